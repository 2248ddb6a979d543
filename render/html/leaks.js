/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaks.js - the list of entries, in the words of the text formats, and for each the lost and the
 * released way side by side.
 */

const ENTRIES_SHOWN = 50;
const WAY_HEAD = 3;
const WAY_TAIL = 6;

function verdictOf(entry) {
    if (entry.leaked === 0)
        return {word: "STILL OPEN", kind: "open"};
    return {word: "LEAK proven", kind: "leak"};
}

/* What is lost, in bytes: "2.2 KiB direct". */
function lostBytes(entry) {
    if (entry.memories.length === 1 && entry.memories[0] === "composite")
        return "composites: the bytes are their components'";
    return bytesText(entry.bytes) + " " + entry.memories.join(" and ");
}

/* The steps of the lost way, from the branch's first. */
function lostWay(model, entry) {
    const path = pathTo(model.tree, entry.lastAt);
    const from = entry.sharedAt < 0 ? entry.originAt : entry.sharedAt;
    const at = path.indexOf(from);
    if (entry.lastAt === from)
        return [];
    return path.slice(entry.sharedAt < 0 ? at : at + 1);
}

/* From the step through which most are released: always the child that releases most. */
function keptWay(model, entry) {
    const tree = model.tree;
    const way = [];
    let node = entry.keptAt;
    while (node >= 0) {
        way.push(node);
        let best = -1;
        for (let i = model.order.first[node]; i < model.order.first[node + 1]; i++) {
            const child = model.order.list[i];
            if (tree.released[child] > (best < 0 ? 0 : tree.released[best]))
                best = child;
        }
        node = best;
    }
    return way;
}

function stepButton(model, node, count, last) {
    return make("li", {class: last ? "step last" : "step"},
                make("button", {type: "button", onclick: () => showNode(node)},
                     make("span", {class: "name"}, nameOf(model, node))),
                make("span", {class: "count", title: "lives that reached this step"}, count));
}

/* All steps, or those at the ends. */
function stepList(model, way, countOf, lastWord) {
    const list = make("ol", {class: "steps"});
    const add = (node, last) => {
        const item = stepButton(model, node, countText(countOf(node)), last);
        if (last && lastWord)
            item.append(make("span", {class: "mark"}, lastWord));
        list.append(item);
    };
    const cut = way.length > WAY_HEAD + WAY_TAIL + 1;
    (cut ? way.slice(0, WAY_HEAD) : way).forEach((node, i) => add(node, !cut && i === way.length - 1));
    if (cut) {
        const hidden = way.slice(WAY_HEAD, way.length - WAY_TAIL);
        const gap = make("li", {class: "gap"});
        gap.append(make("button", {type: "button", onclick: () => {
            list.dataset.whole = "1";
            for (const node of hidden)
                gap.before(stepButton(model, node, countText(countOf(node)), false));
            gap.remove();
        }}, "[" + hidden.length + " steps]"));
        list.append(gap);
        way.slice(way.length - WAY_TAIL).forEach((node, i) => add(node, i === WAY_TAIL - 1));
    }
    return list;
}

function share(kind, part, whole) {
    if (part === 0)
        return null;
    const bar = make("span", {class: "share " + kind});
    bar.style.flexGrow = String(Math.max(part / whole, 0.006));
    return bar;
}

/* The picture of a divergence. */
function flowFigure(model, entry) {
    const tree = model.tree;
    const lost = entry.leaked + entry.aged;
    const lostList = lostWay(model, entry);
    const keptList = keptWay(model, entry);
    const from = entry.sharedAt < 0 ? entry.originAt : entry.sharedAt;
    const rest = Math.max(0, entry.passed - lost - entry.released);
    const word = entry.leaked > 0 ? "LEAK " + countText(entry.leaked) : "OPEN " + countText(entry.aged);
    const figure = make("figure", {class: "flow"},
        make("div", {class: "meet"},
            make("button", {type: "button", onclick: () => showNode(from)},
                 make("span", {class: "name"}, nameOf(model, from))),
            make("span", {class: "count"}, countText(entry.passed) + (entry.sharedAt < 0 ? " allocated" : " came here"))),
        make("div", {class: "shares", "aria-hidden": "true"}, share("lost", lost, entry.passed),
             share("rest", rest, entry.passed), share("kept", entry.released, entry.passed)));
    const lostColumn = make("div", {class: "way lost"},
        make("p", {class: "way-head"}, make("strong", {}, countText(lost) + " lost"),
             " " + percentText(lost, entry.passed)));
    if (lostList.length > 0)
        lostColumn.append(stepList(model, lostList, n => tree.passed[n], word));
    else
        lostColumn.append(make("p", {class: "there"}, "they end there ", make("span", {class: "mark"}, word)));
    const keptColumn = make("div", {class: "way kept"},
        make("p", {class: "way-head"}, make("strong", {}, countText(entry.released) + " released"),
             " " + percentText(entry.released, entry.passed)));
    if (entry.released === 0)
        keptColumn.append(make("p", {class: "there"}, "none of these is released anywhere"));
    else if (keptList.length > 0)
        keptColumn.append(stepList(model, keptList, n => tree.released[n], null));
    else
        keptColumn.append(make("p", {class: "there"}, "released there, on no further step"));
    const columns = make("div", {class: "ways"}, lostColumn, keptColumn);
    figure.append(columns);
    const also = [];
    if (rest > 0)
        also.push(countText(rest) + " others came here and are live, held, or are another entry");
    if (entry.branches > 1)
        also.push("the largest of " + entry.branches + " branches is shown");
    if (also.length > 0)
        figure.append(make("figcaption", {}, also.join("; ") + "."));
    return figure;
}

/* One row for each way in which the entry's lives were lost. */
function detailsOf(model, entry) {
    const list = make("ul", {class: "rows"});
    for (const leak of entry.leaks.slice(0, 50)) {
        const row = leak.row;
        const facts = [countText(row.count) + (row.verdict === "leaked" ? " leaked" : " still open"),
                       bytesText(row.bytes) + " " + row.memory];
        if (row.verdict === "leaked" && leak.words.lost !== "")
            facts.push(leak.words.lost);
        if (row.oldest_seconds > 0)
            facts.push("oldest " + row.oldest_seconds + " s, half within " + row.p50_seconds + " s");
        if (leak.words.opener !== "")
            facts.push("opened by " + leak.words.opener);
        facts.push("id " + row.fingerprint);
        list.append(make("li", {}, make("span", {class: "facts"}, facts.join(", ")), make("br"),
            make("span", {class: "path"}, pathTo(model.tree, leak.at).map(n => nameOf(model, n)).join(" \u2192 "))));
    }
    if (entry.leaks.length > 50)
        list.append(make("li", {}, "(" + (entry.leaks.length - 50) + " more)"));
    return make("details", {}, make("summary", {}, "Paths, threads, ids"), list);
}

function copyText(text, button) {
    const done = () => {
        button.dataset.done = "1";
        button.textContent = "Copied";
    };
    if (navigator.clipboard && window.isSecureContext)
        navigator.clipboard.writeText(text).then(done, () => window.prompt("Copy:", text));
    else
        window.prompt("Copy:", text);
}

function entryCard(model, entry) {
    const verdict = verdictOf(entry);
    const lost = entry.leaked + entry.aged;
    const title = "entry-" + entry.number;
    const facts = make("p", {class: "figures"},
        make("strong", {}, countText(lost) + " of " + countText(entry.passed)), " (" + percentText(lost, entry.passed) + ")",
        make("span", {class: "sep"}, lostBytes(entry)),
        entry.oldest > 0 ? make("span", {class: "sep"}, "oldest " + entry.oldest + " s") : null,
        entry.rate ? make("span", {class: "sep since"}, entry.rate.text) : null);
    const words = make("div", {class: "words"});
    const lines = entry.text.filter(line => !entry.rate || line !== entry.rate.text); /* it is above */
    lines.forEach((line, i) => words.append(make("p", i === 0 ? {class: "first"} : {}, line)));
    const link = make("button", {type: "button", onclick: () => {
        setHash({leak: entry.id});
        copyText(location.href, link);
    }}, "Copy link");
    const card = make("article", {class: "entry " + verdict.kind, "aria-labelledby": title, "data-id": entry.id},
        make("div", {class: "entry-head"},
            make("span", {class: "badge"}, verdict.word),
            make("h3", {id: title, tabindex: "-1"}, nameOf(model, entry.ownerAt)),
            make("code", {class: "id", title: "The same in every run, build and JVM"}, entry.id)),
        facts, words, flowFigure(model, entry),
        make("div", {class: "tools"},
            make("button", {type: "button", onclick: () => showNode(entry.lastAt)}, "Show in the tree"), link),
        detailsOf(model, entry));
    return make("li", {value: entry.number + 1}, card);
}

/* The entries that are chosen; the rest of a long list on request. */
function renderEntries(app, all) {
    const list = byId("entries");
    app.allEntries = all;
    const shown = app.model.entries.filter(e => app.shown.entries[e.number]);
    const cut = all ? shown : shown.slice(0, ENTRIES_SHOWN);
    list.replaceChildren(...cut.map(e => entryCard(app.model, e)));
    if (shown.length === 0)
        list.append(make("li", {class: "empty"}, app.model.entries.length === 0
            ? (app.model.snapshot.totals.lives > 0 ? "No buffer was lost." : "No buffer was followed.")
            : "No loss matches these filters."));
    byId("entries-more").hidden = cut.length === shown.length;
    byId("entries-more").textContent = "Show " + (shown.length - cut.length) + " more";
}

/* To the card of an entry, by its id. */
function showEntry(app, id) {
    const entry = app.model.entries.find(e => e.id === id);
    if (entry === undefined)
        return;
    if (byId("entry-" + entry.number) === null)
        renderEntries(app, true);
    const title = byId("entry-" + entry.number);
    if (title === null)
        return;
    title.closest("article").scrollIntoView({block: "start"});
    title.focus({preventScroll: true});
}
