/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onsets.js - a strip of time for each place that lost or holds buffers: how many bytes were found
 * lost in each interval, or were held in it. A picture has its words beside it.
 */

const STRIPS_SHOWN = 100;

/* All arrays end with the newest interval. */
function cellsOf(row, intervals, first) {
    const cells = [];
    const before = intervals - row.lives.length;
    for (let i = first; i < intervals; i++) {
        const k = i - before;
        cells.push(k < 0 ? {lives: 0, bytes: 0} : {lives: row.lives[k], bytes: row.bytes[k]});
    }
    return cells;
}

/* The first interval with something, of all rows; ten intervals at least. */
function firstInterval(snapshot) {
    const intervals = snapshot.history.intervals;
    let first = intervals;
    for (const row of snapshot.growth) {
        const at = row.lives.findIndex((n, i) => n > 0 || row.bytes[i] > 0);
        if (at >= 0)
            first = Math.min(first, intervals - row.lives.length + at);
    }
    return Math.max(0, Math.min(first - 1, intervals - 10));
}

/* As many intervals to a cell as the strip has pixels for; a cell is their sum, or of what is held
 * the largest. */
function drawStrip(canvas, strip, most) {
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    const context = canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = style.getPropertyValue("--strip");
    context.fillRect(0, 0, width, height);
    const n = strip.cells.length;
    const cell = width / n;
    const heat = [1, 2, 3, 4, 5].map(i => style.getPropertyValue((strip.held ? "--hold-" : "--loss-") + i));
    const per = Math.max(1, Math.ceil(1.5 / cell));
    for (let i = 0; i < n; i += per) {
        let value = 0;
        for (let k = i; k < Math.min(n, i + per); k++) {
            const own = strip.cells[k].bytes || strip.cells[k].lives;
            value = strip.held ? Math.max(value, own) : value + own;
        }
        if (value <= 0)
            continue;
        const part = most > 1 ? Math.log(1 + value) / Math.log(1 + most) : 1;
        context.fillStyle = heat[Math.min(4, Math.floor(part * part * 5))];
        context.fillRect(i * cell, 1, Math.max(cell * per - (cell > 4 ? 1 : 0), 1), height - 2);
    }
}

function intervalText(snapshot, strip, i, first) {
    const ms = Date.parse(snapshot.captured_at);
    const history = snapshot.history;
    const begin = ms - (history.current_seconds + (history.intervals - 1 - i - first) * history.seconds) * 1000;
    const cell = strip.cells[i];
    return clockText(begin) + ": " + countText(cell.lives) + (strip.held ? " held, " : " found lost, ") + bytesText(cell.bytes);
}

function stripRow(app, strip, first) {
    const canvas = make("canvas", {class: "strip", "aria-hidden": "true"});
    strip.canvas = canvas;
    canvas.addEventListener("pointermove", event => {
        const area = canvas.getBoundingClientRect();
        const i = Math.floor((event.clientX - area.left) / area.width * strip.cells.length);
        const tip = byId("tip");
        if (strip.cells[i] === undefined)
            return;
        tip.hidden = false;
        tip.textContent = intervalText(app.model.snapshot, strip, i, first);
        tip.style.left = Math.min(event.clientX + 14, document.documentElement.clientWidth - tip.offsetWidth - 8) + "px";
        tip.style.top = event.clientY + 18 + "px";
    });
    canvas.addEventListener("pointerleave", () => { byId("tip").hidden = true; });
    return make("li", {class: strip.held ? "held" : "lost"},
        make("div", {class: "strip-name"},
            make("span", {class: "mark " + (strip.held ? "plain" : "leak")}, strip.held ? "held" : "lost"),
            make("button", {type: "button", onclick: () => showNode(strip.node)},
                 make("span", {class: "name"}, nameOf(app.model, strip.node)))),
        canvas, make("span", {class: "strip-text"}, strip.text));
}

function renderOnsets(app) {
    const snapshot = app.model.snapshot;
    const section = byId("onsets-section");
    section.hidden = !snapshot.history || !snapshot.growth || snapshot.growth.length === 0;
    if (section.hidden)
        return;
    const first = firstInterval(snapshot);
    const strips = [];
    snapshot.growth.forEach((row, i) => {
        const words = app.model.report.growth[i];
        if (words.of === "lost" && words.entry !== undefined && !app.shown.entries[words.entry])
            return;
        const node = app.model.tree.at.get(row.node);
        if (words.of === "held" && app.choice.path !== "" && app.shown.passes[node] !== 1)
            return;
        strips.push({held: words.of === "held", node, text: words.rate ? words.rate.text : "",
                     cells: cellsOf(row, snapshot.history.intervals, first)});
    });
    const most = {true: 0, false: 0};
    for (const strip of strips)
        for (const cell of strip.cells)
            most[strip.held] = Math.max(most[strip.held], cell.bytes || cell.lives);
    const seconds = snapshot.history.seconds;
    byId("onsets-what").textContent = "One cell is " + (seconds % 60 === 0 ? seconds / 60 + " min" : seconds + " s") +
        ": bytes found lost in it, or held in it by buffers that were open for longer. From " +
        clockText(Date.parse(snapshot.captured_at) - (snapshot.history.current_seconds +
                  (snapshot.history.intervals - 1 - first) * seconds) * 1000) +
        " to " + clockText(Date.parse(snapshot.captured_at)) + ".";
    const list = make("ul", {class: "strips"}, ...strips.slice(0, STRIPS_SHOWN).map(s => stripRow(app, s, first)));
    byId("onsets").replaceChildren(list);
    if (strips.length > STRIPS_SHOWN)
        byId("onsets").append(make("p", {}, "(" + (strips.length - STRIPS_SHOWN) + " more)"));
    app.drawStrips = () => strips.slice(0, STRIPS_SHOWN).forEach(s => drawStrip(s.canvas, s, most[s.held]));
    app.drawStrips();
}
