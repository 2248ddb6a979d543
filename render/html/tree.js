/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.js - the tree as lines, of which only those in sight are elements. `lines` has what is open,
 * in order. One element has the focus: the tree; aria-activedescendant names the current line.
 */

const LINE = 26;
const INDENT_MOST = 24;
const OPEN_MOST = 5000; /* lines that are opened at once for the losses */
const PRINT_MOST = 400;
const TREE_OPEN = 200; /* a tree of so many lines is open at first */

const treeView = {open: null, lines: [], visible: null, current: -1, matches: null, frame: 0};

/* By node: is it on the way to a loss that is shown? */
function onLostPaths(app) {
    const tree = app.model.tree;
    const marked = new Uint8Array(tree.n);
    app.model.leaks.forEach((leak, i) => {
        for (let node = leak.at; app.shown.leaks[i] && node >= 0 && marked[node] === 0; node = tree.parent[node])
            marked[node] = 1;
    });
    return marked;
}

function isShownLine(node) {
    return treeView.visible === null || treeView.visible[node] === 1;
}

/* The lines below open nodes, without recursion. */
function listLines(app) {
    const {first, list} = app.model.order;
    const n = app.model.tree.n;
    const lines = [];
    const stack = [];
    const push = parent => {
        for (let i = first[parent + 1] - 1; i >= first[parent]; i--)
            if (isShownLine(list[i]))
                stack.push(list[i]);
    };
    push(n);
    while (stack.length > 0) {
        const node = stack.pop();
        lines.push(node);
        if (treeView.open[node] === 1)
            push(node);
    }
    treeView.lines = lines;
    treeView.place = null;
    byId("tree-rows").style.height = lines.length * LINE + "px";
    drawLines(app);
}

/* Where a node is among the lines, or -1. */
function placeOf(node) {
    if (treeView.place === null) {
        treeView.place = new Map();
        treeView.lines.forEach((n, i) => treeView.place.set(n, i));
    }
    return treeView.place.has(node) ? treeView.place.get(node) : -1;
}

function childCount(app, node) {
    return app.model.order.first[node + 1] - app.model.order.first[node];
}

/* What the text tree says behind a line: "LEAK 15", "live 3", "(loop)". */
function marksOf(app, node) {
    const row = app.model.tree.rows[node];
    const marks = [];
    const add = (kind, word, count) => {
        if (count > 0)
            marks.push(make("span", {class: "mark " + kind}, word + " " + countText(count)));
    };
    if (row.loop)
        marks.push(make("span", {class: "mark plain"}, "loop"));
    add("leak", "LEAK", row.leaked);
    add("open", "AGED", row.aged);
    add("plain", "live", row.live - row.aged);
    add("good", "released", row.released);
    add("plain", "held", row.held);
    add("plain", "harmless", row.harmless);
    add("plain", "unknown", row.unknown);
    return marks;
}

/* The part of a name that the search found, marked. */
function nameWithMatch(name, search) {
    const at = search === "" ? -1 : name.toLowerCase().indexOf(search.toLowerCase());
    const span = make("span", {class: "name"});
    if (at < 0) {
        span.append(name);
        return span;
    }
    span.append(name.slice(0, at), make("mark", {}, name.slice(at, at + search.length)), name.slice(at + search.length));
    return span;
}

/* The cells of a line that both the tree and its printed form have. */
function lineCells(app, node) {
    const tree = app.model.tree;
    const depth = tree.depth[node];
    const lost = app.losses.lost[node];
    const name = make("span", {class: "cell step"});
    name.style.paddingLeft = "calc(6px + " + Math.min(depth, INDENT_MOST) + " * var(--indent))";
    if (depth > INDENT_MOST)
        name.append(make("span", {class: "deep"}, "+" + (depth - INDENT_MOST)));
    const kids = childCount(app, node);
    name.append(make("span", {class: "twist" + (kids === 0 ? " leaf" : treeView.open[node] === 1 ? " open" : "")}),
                nameWithMatch(nameOf(app.model, node), app.search));
    if (tree.rows[node].ref !== "1-2")
        name.append(make("span", {class: "ref"}, "ref=" + tree.rows[node].ref));
    name.append(...marksOf(app, node));
    const rate = make("span", {class: "cell rate"});
    if (lost > 0) {
        const step = lossClass(rateOf(app, node));
        rate.append(make("span", {class: "dot loss-" + (step + 1)}), percentText(lost, tree.passed[node]));
    }
    const number = (shown, word) => make("span", {class: "cell number"}, shown,
        shown === "" ? null : make("span", {class: "unseen"}, " " + word + " "));
    if (lost > 0)
        rate.append(make("span", {class: "unseen"}, " of them "));
    return [name, number(countText(tree.passed[node]), "lives"), number(lost > 0 ? countText(lost) : "", "lost"), rate,
            number(app.losses.bytes[node] > 0 ? bytesText(app.losses.bytes[node]) : "", "lost")];
}

function lineElement(app, place) {
    const node = treeView.lines[place];
    const line = make("div", {
        class: "line" + (node === treeView.current ? " current" : "") + (app.losses.lost[node] > 0 ? " loses" : ""),
        role: "treeitem", id: "line-" + node, "aria-level": app.model.tree.depth[node] + 1,
        "aria-expanded": childCount(app, node) === 0 ? null : treeView.open[node] === 1 ? "true" : "false",
        "aria-selected": node === treeView.current ? "true" : "false"
    }, ...lineCells(app, node));
    line.style.top = place * LINE + "px";
    line.addEventListener("click", event => {
        if (event.target.classList.contains("twist"))
            toggle(app, node);
        selectNode(app, node);
    });
    line.addEventListener("dblclick", () => toggle(app, node));
    return line;
}

function drawLines(app) {
    const box = byId("tree");
    const from = Math.max(0, Math.floor(box.scrollTop / LINE) - 8);
    const to = Math.min(treeView.lines.length, Math.ceil((box.scrollTop + box.clientHeight) / LINE) + 8);
    const rows = byId("tree-rows");
    const elements = [];
    for (let i = from; i < to; i++)
        elements.push(lineElement(app, i));
    rows.replaceChildren(...elements);
    const at = treeView.current < 0 ? -1 : placeOf(treeView.current);
    if (at >= from && at < to)
        box.setAttribute("aria-activedescendant", "line-" + treeView.current);
    else
        box.removeAttribute("aria-activedescendant");
}

function redrawLines(app) {
    if (treeView.frame === 0)
        treeView.frame = requestAnimationFrame(() => {
            treeView.frame = 0;
            drawLines(app);
        });
}

function toggle(app, node) {
    if (childCount(app, node) === 0)
        return;
    treeView.open[node] ^= 1;
    listLines(app);
}

/* Open what is above a node and bring its line into sight. */
function revealLine(app, node) {
    const tree = app.model.tree;
    const box = byId("tree");
    let changed = false;
    if (!isShownLine(node)) {
        byId("only-lost").checked = false;
        treeView.visible = null;
        changed = true;
    }
    for (let i = tree.parent[node]; i >= 0; i = tree.parent[i])
        if (treeView.open[i] === 0) {
            treeView.open[i] = 1;
            changed = true;
        }
    treeView.current = node;
    if (changed)
        listLines(app);
    const top = placeOf(node) * LINE;
    if (top < box.scrollTop)
        box.scrollTop = top;
    else if (top + LINE > box.scrollTop + box.clientHeight)
        box.scrollTop = top + LINE - box.clientHeight;
    drawLines(app);
}

function treeKey(app, event) {
    const lines = treeView.lines;
    const page = Math.max(1, Math.floor(byId("tree").clientHeight / LINE) - 1);
    const node = treeView.current;
    let at = node < 0 ? -1 : placeOf(node);
    if (event.ctrlKey || event.metaKey || event.altKey || lines.length === 0)
        return;
    const isOpen = node >= 0 && treeView.open[node] === 1;
    switch (event.key) {
    case "ArrowDown": at++; break;
    case "ArrowUp": at--; break;
    case "PageDown": at += page; break;
    case "PageUp": at -= page; break;
    case "Home": at = 0; break;
    case "End": at = lines.length - 1; break;
    case "ArrowRight":
        if (node >= 0 && !isOpen)
            toggle(app, node);
        else
            at++;
        break;
    case "ArrowLeft":
        if (isOpen && childCount(app, node) > 0)
            toggle(app, node);
        else if (node >= 0 && app.model.tree.parent[node] >= 0)
            at = placeOf(app.model.tree.parent[node]);
        break;
    case "Enter": case " ":
        if (node >= 0)
            toggle(app, node);
        break;
    default:
        return;
    }
    event.preventDefault();
    at = Math.min(Math.max(at, 0), treeView.lines.length - 1);
    selectNode(app, treeView.lines[at]);
}

/* Open what is above each loss that is shown, most bytes first, up to a number of lines. */
function openLosses(app) {
    const tree = app.model.tree;
    let budget = OPEN_MOST;
    app.model.leaks.forEach((leak, i) => {
        if (!app.shown.leaks[i])
            return;
        for (let node = tree.parent[leak.at]; node >= 0 && treeView.open[node] === 0 && budget > 0; node = tree.parent[node]) {
            treeView.open[node] = 1;
            budget -= childCount(app, node);
        }
    });
}

function renderTree(app) {
    treeView.visible = byId("only-lost").checked ? onLostPaths(app) : null;
    listLines(app);
}

/* A page that is printed has no scrolled box: the lines that are open, up to a number of them. */
function printTree(app) {
    const box = byId("tree-print");
    const lines = treeView.lines.slice(0, PRINT_MOST);
    box.replaceChildren(...lines.map(node => make("div", {class: "line"}, ...lineCells(app, node))));
    if (treeView.lines.length > lines.length)
        box.append(make("p", {}, "(" + (treeView.lines.length - lines.length) + " more lines)"));
}

function startTree(app) {
    const box = byId("tree");
    treeView.open = new Uint8Array(app.model.tree.n);
    if (app.model.tree.n <= TREE_OPEN)
        treeView.open.fill(1);
    openLosses(app);
    box.addEventListener("scroll", () => redrawLines(app));
    box.addEventListener("keydown", event => treeKey(app, event));
    byId("only-lost").addEventListener("change", () => renderTree(app));
    byId("tree-losses").addEventListener("click", () => {
        openLosses(app);
        listLines(app);
    });
    byId("tree-close").addEventListener("click", () => {
        treeView.open.fill(0);
        listLines(app);
    });
    window.addEventListener("resize", () => redrawLines(app));
    window.addEventListener("beforeprint", () => printTree(app));
}
