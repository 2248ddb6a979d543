/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icicle.js - the tree as a picture: a box is as wide as its part of the lives, coloured by the
 * share of them that were lost. Drawn on a canvas; a frame draws what can be seen only: children are
 * sorted by weight, so those after the first that is too narrow are one block.
 */

const ROW = 22;
const ROWS_LEAST = 6;
const ROWS_MOST = 26;
const NARROW = 0.6; /* CSS pixels: narrower boxes are one block */
const WIDE = 12;    /* the picture is as high as the boxes from this width on need */

const icicle = {canvas: null, context: null, weight: null, order: null, from: 0, to: 1, top: -1, current: -1,
                hover: -1, width: 0, height: 0, frame: 0, boxes: [], matches: null, animation: null};

function themeColors() {
    const style = getComputedStyle(document.documentElement);
    const of = name => style.getPropertyValue(name).trim();
    return {neutral: of("--neutral"), ink: of("--ink"), panel: of("--panel"), line: of("--line"), focus: of("--accent"),
            steps: [of("--loss-1"), of("--loss-2"), of("--loss-3"), of("--loss-4"), of("--loss-5")],
            inks: [of("--loss-ink-1"), of("--loss-ink-2"), of("--loss-ink-3"), of("--loss-ink-4"), of("--loss-ink-5")],
            many: of("--many")};
}

/* Classes of the loss rate: up to 0.1%, 1%, 10%, 50%, all. -1: nothing is lost. */
function lossClass(rate) {
    if (!(rate > 0))
        return -1;
    return rate <= 0.001 ? 0 : rate <= 0.01 ? 1 : rate <= 0.1 ? 2 : rate <= 0.5 ? 3 : 4;
}

function rateOf(app, node) {
    const passed = app.model.tree.passed[node];
    return passed > 0 ? app.losses.lost[node] / passed : 0;
}

/* Where each node is, from 0 to 1: children side by side in their parent. */
function layIcicle(app) {
    const tree = app.model.tree;
    const mode = byId("weight").value;
    icicle.weight = mode === "lost" ? app.losses.lost : mode === "bytes" ? app.losses.bytes : tree.passed;
    icicle.order = mode === "passed" ? app.model.order : orderBy(tree, icicle.weight);
    icicle.x = new Float64Array(tree.n);
    icicle.w = new Float64Array(tree.n);
    const {first, list} = icicle.order;
    let sum = 0;
    for (let i = first[tree.n]; i < first[tree.n + 1]; i++)
        sum += icicle.weight[list[i]];
    icicle.sum = sum;
    const place = (parent, x, scale) => {
        for (let i = first[parent]; i < first[parent + 1]; i++) {
            const child = list[i];
            icicle.x[child] = x;
            icicle.w[child] = icicle.weight[child] * scale;
            x += icicle.w[child];
        }
    };
    if (sum > 0)
        place(tree.n, 0, 1 / sum);
    for (let i = 0; i < tree.n; i++)
        if (icicle.weight[i] > 0)
            place(i, icicle.x[i], icicle.w[i] / icicle.weight[i]);
}

/* What is seen: [from, to] of the width, rows from the depth of `top`. */
function view(from, to) {
    const least = 1e-9;
    const width = Math.min(1, Math.max(least, to - from));
    icicle.from = Math.min(Math.max(0, from), 1 - width);
    icicle.to = icicle.from + width;
}

function firstDepth(app) {
    return icicle.top < 0 ? 0 : app.model.tree.depth[icicle.top];
}

/* The first child that ends behind `x`, by its place in the order. */
function firstVisible(begin, end, x) {
    let low = begin;
    let high = end;
    while (low < high) {
        const middle = (low + high) >> 1;
        const node = icicle.order.list[middle];
        if (icicle.x[node] + icicle.w[node] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

function drawBox(app, colors, node, x, y, width, context) {
    const tree = app.model.tree;
    const step = lossClass(rateOf(app, node));
    context.fillStyle = step < 0 ? colors.neutral : colors.steps[step];
    context.fillRect(x, y, Math.max(width - 0.7, 0.5), ROW - 1.5);
    if (icicle.matches !== null && icicle.matches[tree.site[node]] === 1) {
        context.fillStyle = colors.focus;
        context.fillRect(x, y + ROW - 4.5, Math.max(width - 0.7, 0.5), 3);
    }
    if (node === icicle.current || node === icicle.hover) {
        context.strokeStyle = colors.focus;
        context.lineWidth = node === icicle.current ? 2.5 : 1.5;
        context.strokeRect(x + 1, y + 1, Math.max(width - 2.7, 1), ROW - 3.5);
    }
    if (width < 28)
        return;
    const name = nameOf(app.model, node);
    const room = Math.floor((width - 10) / icicle.letter);
    const text = name.length <= room ? name : room > 2 ? name.slice(0, room - 1) + "\u2026" : "";
    if (text === "")
        return;
    context.fillStyle = step < 0 ? colors.ink : colors.inks[step];
    context.fillText(text, x + 5, y + ROW / 2);
}

/* Draw children of `parent` that can be seen; returns those to go into. */
function drawRun(app, colors, parent, y, scale, out) {
    const {first, list} = icicle.order;
    const end = first[parent + 1];
    for (let i = firstVisible(first[parent], end, icicle.from); i < end; i++) {
        const node = list[i];
        const left = (icicle.x[node] - icicle.from) * scale;
        if (left >= icicle.width || icicle.w[node] === 0)
            return;
        const width = icicle.w[node] * scale;
        if (width < NARROW) {
            const last = list[end - 1];
            const right = Math.min((icicle.x[last] + icicle.w[last] - icicle.from) * scale, icicle.width);
            icicle.context.fillStyle = colors.many;
            icicle.context.fillRect(left, y + 4, Math.max(right - left, 0.5), ROW - 9.5);
            return;
        }
        const x = Math.max(left, 0);
        const shown = Math.min(left + width, icicle.width) - x;
        drawBox(app, colors, node, x, y, shown, icicle.context);
        icicle.boxes.push({node, x, y, width: shown});
        if (first[node + 1] > first[node])
            out.push(node);
    }
}

function drawIcicle() {
    const app = window.bbflow;
    icicle.frame = 0;
    if (icicle.context === null || app.model === undefined)
        return;
    const colors = icicle.colors || (icicle.colors = themeColors());
    const scale = icicle.width / (icicle.to - icicle.from);
    icicle.context.setTransform(icicle.ratio, 0, 0, icicle.ratio, 0, 0);
    icicle.context.fillStyle = colors.panel;
    icicle.context.fillRect(0, 0, icicle.width, icicle.height);
    icicle.context.font = "12px ui-monospace, 'DejaVu Sans Mono', monospace";
    icicle.context.textBaseline = "middle";
    icicle.letter = icicle.letter || icicle.context.measureText("mmmmmmmmmm").width / 10;
    icicle.boxes = [];
    let row;
    if (icicle.top < 0) {
        row = [];
        drawRun(app, colors, app.model.tree.n, 0, scale, row);
    } else {
        const left = Math.max((icicle.x[icicle.top] - icicle.from) * scale, 0);
        const right = Math.min((icicle.x[icicle.top] + icicle.w[icicle.top] - icicle.from) * scale, icicle.width);
        drawBox(app, colors, icicle.top, left, 0, right - left, icicle.context);
        icicle.boxes.push({node: icicle.top, x: left, y: 0, width: right - left});
        row = [icicle.top];
    }
    for (let y = ROW; y < icicle.height && row.length > 0; y += ROW) {
        const next = [];
        for (const parent of row)
            drawRun(app, colors, parent, y, scale, next);
        row = next;
    }
    if (icicle.sum === 0) {
        icicle.context.fillStyle = colors.ink;
        icicle.context.fillText("Nothing is lost here: choose the width by lives.", 8, ROW / 2);
    }
}

function redraw() {
    if (icicle.frame === 0)
        icicle.frame = requestAnimationFrame(drawIcicle);
}

/* Rows that boxes of some width need, where [from, to] is seen. */
function rowsOf(app, from, to) {
    const tree = app.model.tree;
    const least = WIDE / icicle.width * (to - from);
    const top = firstDepth(app);
    let rows = ROWS_LEAST;
    for (let i = 0; i < tree.n && rows < ROWS_MOST; i++)
        if (icicle.w[i] >= least && icicle.x[i] < to && icicle.x[i] + icicle.w[i] > from)
            rows = Math.max(rows, tree.depth[i] - top + 1);
    return Math.min(rows, ROWS_MOST);
}

function sizeIcicle(app, from, to) {
    const canvas = icicle.canvas;
    icicle.ratio = window.devicePixelRatio || 1;
    icicle.width = canvas.clientWidth;
    icicle.height = rowsOf(app, from, to) * ROW;
    canvas.style.height = icicle.height + "px";
    canvas.width = Math.round(icicle.width * icicle.ratio);
    canvas.height = Math.round(icicle.height * icicle.ratio);
    redraw();
}

/* Move there in a fifth of a second, or at once if less motion is wanted. */
function moveTo(from, to) {
    const begin = {from: icicle.from, to: icicle.to, at: performance.now()};
    if (icicle.animation !== null)
        cancelAnimationFrame(icicle.animation);
    icicle.animation = null;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
        view(from, to);
        redraw();
        return;
    }
    const step = now => {
        const part = Math.min(1, (now - begin.at) / 200);
        const ease = part * (2 - part);
        view(begin.from + (from - begin.from) * ease, begin.to + (to - begin.to) * ease);
        drawIcicle();
        icicle.animation = part < 1 ? requestAnimationFrame(step) : null;
    };
    icicle.animation = requestAnimationFrame(step);
}

/* Make a node as wide as the picture; -1: all of them. */
function zoomTo(app, node) {
    if (node >= 0 && icicle.w[node] === 0)
        node = -1;
    icicle.top = node;
    const from = node < 0 ? 0 : icicle.x[node];
    const to = node < 0 ? 1 : icicle.x[node] + icicle.w[node];
    sizeIcicle(app, from, to);
    moveTo(from, to);
    showCrumbs(app);
    setHash({zoom: node < 0 ? "" : String(app.model.tree.rows[node].id)});
}

/* Narrower or wider by a factor, around a place of the width. */
function zoomBy(app, factor, around) {
    const width = (icicle.to - icicle.from) * factor;
    const from = around - (around - icicle.from) * factor;
    if (width >= 1 && icicle.top >= 0) {
        zoomTo(app, -1);
        return;
    }
    view(from, from + width);
    redraw();
}

function showCrumbs(app) {
    const nav = byId("crumbs");
    const path = icicle.top < 0 ? [] : pathTo(app.model.tree, icicle.top);
    const cut = path.length > 9;
    const steps = cut ? path.slice(0, 2).concat([-1], path.slice(-6)) : path;
    nav.replaceChildren();
    if (path.length === 0)
        return;
    nav.append(make("button", {type: "button", onclick: () => zoomTo(app, -1)}, "all"));
    for (const node of steps)
        nav.append(" \u203a ", node < 0 ? "[" + (path.length - 8) + " steps]"
            : make("button", {type: "button", onclick: () => zoomTo(app, node)}, nameOf(app.model, node)));
}

/* "OrderParser.amount: 156 lives, 15 lost (9.62%), 2.2 KiB" */
function describe(app, node) {
    const tree = app.model.tree;
    const lost = app.losses.lost[node];
    let text = nameOf(app.model, node) + " [ref=" + tree.rows[node].ref + "]: " + countText(tree.passed[node]) + " lives";
    if (lost > 0)
        text += ", " + countText(lost) + " lost (" + percentText(lost, tree.passed[node]) + "), " + bytesText(app.losses.bytes[node]);
    return text + ", " + countText(tree.released[node]) + " released" + (tree.rows[node].loop ? " (loop)" : "");
}

function setCurrent(app, node) {
    icicle.current = node;
    setText("here", node < 0 ? "" : describe(app, node));
    if (node >= 0) {
        const top = firstDepth(app);
        const depth = app.model.tree.depth[node];
        const rows = Math.floor(icicle.height / ROW);
        if (depth < top || depth >= top + rows || (icicle.top >= 0 && !isBelow(app, node, icicle.top)))
            zoomOver(app, node);
        else if (icicle.w[node] > 0 && (icicle.x[node] + icicle.w[node] <= icicle.from || icicle.x[node] >= icicle.to))
            view(icicle.x[node] + icicle.w[node] / 2 - (icicle.to - icicle.from) / 2,
                 icicle.x[node] + icicle.w[node] / 2 + (icicle.to - icicle.from) / 2);
    }
    redraw();
}

function isBelow(app, node, above) {
    while (node >= 0 && node !== above)
        node = app.model.tree.parent[node];
    return node === above;
}

/* Zoom to the ancestor from which the node can be seen. */
function zoomOver(app, node) {
    const tree = app.model.tree;
    const rows = Math.max(2, Math.floor(icicle.height / ROW) - 2);
    let above = node;
    for (let i = 0; i < rows && above >= 0; i++)
        above = tree.parent[above];
    zoomTo(app, above);
}

/* ---- Keys and mouse ---- */

function neighbour(app, node, key) {
    const tree = app.model.tree;
    const {first, list} = icicle.order;
    if (node < 0)
        return icicle.top >= 0 ? icicle.top : list[first[tree.n]];
    if (key === "ArrowUp")
        return tree.parent[node] >= 0 ? tree.parent[node] : node;
    if (key === "ArrowDown")
        return first[node + 1] > first[node] ? list[first[node]] : node;
    const run = tree.parent[node] < 0 ? tree.n : tree.parent[node];
    const at = list.indexOf(node, first[run]) + (key === "ArrowLeft" ? -1 : 1);
    return at >= first[run] && at < first[run + 1] && icicle.weight[list[at]] > 0 ? list[at] : node;
}

function icicleKey(app, event) {
    const middle = icicle.current >= 0 && icicle.w[icicle.current] > 0
        ? icicle.x[icicle.current] + icicle.w[icicle.current] / 2 : (icicle.from + icicle.to) / 2;
    if (event.ctrlKey || event.metaKey || event.altKey)
        return;
    if (event.key.startsWith("Arrow"))
        selectNode(app, neighbour(app, icicle.current, event.key));
    else if (event.key === "Enter" || event.key === " ")
        zoomTo(app, icicle.current);
    else if (event.key === "Escape" || event.key === "Backspace")
        zoomTo(app, icicle.top < 0 ? -1 : app.model.tree.parent[icicle.top]);
    else if (event.key === "Home" || event.key === "0")
        zoomTo(app, -1);
    else if (event.key === "+" || event.key === "=")
        zoomBy(app, 0.5, middle);
    else if (event.key === "-")
        zoomBy(app, 2, middle);
    else
        return;
    event.preventDefault();
}

function boxAt(event) {
    const area = icicle.canvas.getBoundingClientRect();
    const x = event.clientX - area.left;
    const y = event.clientY - area.top;
    return icicle.boxes.findLast(b => x >= b.x && x < b.x + b.width && y >= b.y && y < b.y + ROW);
}

function hoverAt(app, event) {
    const box = boxAt(event);
    const node = box === undefined ? -1 : box.node;
    const tip = byId("tip");
    icicle.pointer = {clientX: event.clientX, clientY: event.clientY};
    if (node !== icicle.hover) {
        icicle.hover = node;
        redraw();
    }
    tip.hidden = node < 0;
    if (node < 0)
        return;
    tip.textContent = describe(app, node);
    const left = Math.min(event.clientX + 14, document.documentElement.clientWidth - tip.offsetWidth - 8);
    tip.style.left = Math.max(left, 4) + "px";
    tip.style.top = event.clientY + 18 + "px";
}

function listenIcicle(app) {
    const canvas = icicle.canvas;
    let drag = null;
    canvas.addEventListener("keydown", event => icicleKey(app, event));
    canvas.addEventListener("pointerdown", event => {
        drag = {x: event.clientX, from: icicle.from, to: icicle.to, moved: false};
        canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", event => {
        if (drag === null) {
            hoverAt(app, event);
            return;
        }
        const shift = (event.clientX - drag.x) * (drag.to - drag.from) / icicle.width;
        drag.moved = drag.moved || Math.abs(event.clientX - drag.x) > 4;
        if (drag.moved) {
            view(drag.from - shift, drag.to - shift);
            redraw();
        }
    });
    canvas.addEventListener("pointerup", event => {
        const box = boxAt(event);
        if (drag !== null && !drag.moved && box !== undefined) {
            selectNode(app, box.node);
            zoomTo(app, box.node === icicle.top ? app.model.tree.parent[box.node] : box.node);
        }
        drag = null;
    });
    canvas.addEventListener("pointercancel", () => { drag = null; });
    canvas.addEventListener("pointerleave", () => {
        icicle.hover = -1;
        byId("tip").hidden = true;
        redraw();
    });
    canvas.addEventListener("wheel", event => {
        if (document.activeElement !== canvas && !event.ctrlKey)
            return;
        event.preventDefault();
        const x = (event.clientX - canvas.getBoundingClientRect().left) / icicle.width;
        zoomBy(app, Math.exp(event.deltaY * 0.002), icicle.from + x * (icicle.to - icicle.from));
    }, {passive: false});
    byId("zoom-in").addEventListener("click", () => zoomBy(app, 0.5, (icicle.from + icicle.to) / 2));
    byId("zoom-out").addEventListener("click", () => zoomBy(app, 2, (icicle.from + icicle.to) / 2));
    byId("zoom-all").addEventListener("click", () => zoomTo(app, -1));
    byId("weight").addEventListener("change", () => {
        layIcicle(app);
        zoomTo(app, -1);
        setHash({width: byId("weight").value === "passed" ? "" : byId("weight").value});
    });
}

function startIcicle(app) {
    icicle.canvas = byId("icicle");
    icicle.context = icicle.canvas.getContext("2d", {alpha: false});
    layIcicle(app);
    sizeIcicle(app, 0, 1);
    listenIcicle(app);
    const legend = byId("legend");
    legend.append("lost: ", make("i", {class: "loss-0"}), "none");
    [["1", "\u2264 0.1%"], ["2", "1%"], ["3", "10%"], ["4", "50%"], ["5", "more"]].forEach(([step, word]) =>
        legend.append(make("i", {class: "loss-" + step}), word));
    window.addEventListener("resize", () => sizeIcicle(app, icicle.from, icicle.to));
}
