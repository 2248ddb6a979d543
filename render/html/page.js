/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.js - puts the parts together: what is selected, the filters, the address (location.hash has
 * all that a link must bring back), light and dark.
 */

const NO_CHOICE = {lost: false, memory: "", older: "", rate: "", path: ""};
const app = {choice: NO_CHOICE, search: "", selected: -1, drawn: false, allEntries: false, other: null, hash: {}};
window.bbflow = app;

/* ---- The address ---- */

/* Change some of the names; "" removes one. */
function setHash(names) {
    Object.assign(app.hash, names);
    const words = new URLSearchParams();
    for (const [name, value] of Object.entries(app.hash))
        if (value !== "")
            words.set(name, value);
    const text = words.toString();
    try {
        history.replaceState(null, "", text === "" ? location.pathname + location.search : "#" + text);
    } catch (error) {
        location.hash = text;
    }
}

function readHash() {
    app.hash = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    return app.hash;
}

/* ---- Selection ---- */

/* The same node in the tree and in the icicle. */
function selectNode(of, node) {
    of.selected = node;
    revealLine(of, node);
    setCurrent(of, node);
    setHash({node: String(of.model.tree.rows[node].id)});
}

/* From elsewhere on the page: also go there. */
function showNode(node) {
    selectNode(app, node);
    byId("tree-section").scrollIntoView({block: "start"});
    byId("tree").focus({preventScroll: true});
}

/* ---- Filters ---- */

function applyChoice() {
    app.shown = choose(app.model, app.choice);
    app.losses = sumLosses(app.model, (leak, i) => app.shown.leaks[i]);
    const all = app.model.entries.length;
    const shown = app.shown.entries.filter(Boolean).length;
    let count = shown === all ? all + (all === 1 ? " place loses" : " places lose") + " buffers."
        : shown + " of " + all + " places that lose buffers are shown.";
    byId("f-command").textContent = isChoiceSet(app.choice) ? commandOf(app.choice) : "";
    byId("f-clear").disabled = !isChoiceSet(app.choice);
    for (const name of ["older", "rate"]) {
        const input = byId("f-" + name);
        input.setAttribute("aria-invalid", app.shown.wrong[name] === undefined ? "false" : "true");
        input.setCustomValidity(app.shown.wrong[name] || "");
        input.title = app.shown.wrong[name] === undefined ? "" : "It takes " + app.shown.wrong[name];
    }
    const wrong = Object.values(app.shown.wrong);
    if (wrong.length > 0)
        count += " Not understood: it takes " + wrong.join("; ") + ".";
    setText("f-count", count);
}

function refresh() {
    applyChoice();
    renderEntries(app, false);
    if (app.drawn) {
        layIcicle(app);
        redraw();
        if (isChoiceSet(app.choice))
            openLosses(app);
        renderTree(app);
    }
    renderOnsets(app);
}

function showChoice() {
    const memory = byId("f-memory");
    if (app.choice.memory !== "" && ![...memory.options].some(o => o.value === app.choice.memory))
        memory.append(make("option", {}, app.choice.memory));
    byId("f-lost").value = app.choice.lost ? "1" : "";
    for (const name of ["memory", "older", "rate", "path"])
        byId("f-" + name).value = app.choice[name];
}

function takeChoice() {
    app.choice = {lost: byId("f-lost").value === "1"};
    for (const name of ["memory", "older", "rate", "path"])
        app.choice[name] = byId("f-" + name).value.trim();
    setHash({lost: app.choice.lost ? "1" : "", memory: app.choice.memory, older: app.choice.older,
             rate: app.choice.rate, path: app.choice.path});
    byId("only-lost").checked = isChoiceSet(app.choice);
    refresh();
}

/* What the address asks for, else what the command was given. */
function firstChoice() {
    const hash = app.hash;
    const given = app.model.report.choice;
    const names = ["lost", "memory", "older", "rate", "path"];
    if (names.some(name => hash[name] !== undefined))
        return {lost: hash.lost === "1", memory: hash.memory || "", older: hash.older || "", rate: hash.rate || "", path: hash.path || ""};
    if (given === undefined)
        return NO_CHOICE;
    return {lost: given.lost, memory: given.memories.join("+"), older: given.older > 0 ? given.older + "s" : "",
            rate: given.rate === undefined ? "" : given.rate + "%", path: given.path};
}

/* ---- Search ---- */

function search(text) {
    app.search = text;
    const found = app.model.names.map(name => text !== "" && name.toLowerCase().includes(text.toLowerCase()) ? 1 : 0);
    icicle.matches = text === "" ? null : found;
    app.found = [];
    for (let i = 0; i < app.model.tree.n && text !== ""; i++)
        if (found[app.model.tree.site[i]] === 1)
            app.found.push(i);
    app.foundAt = -1;
    setText("search-count", text === "" ? "" : app.found.length + " found");
    redraw();
    redrawLines(app);
}

function nextFound(step) {
    if (!app.found || app.found.length === 0)
        return;
    app.foundAt = (app.foundAt + step + app.found.length) % app.found.length;
    selectNode(app, app.found[app.foundAt]);
    byId("search-count").textContent = app.foundAt + 1 + " of " + app.found.length;
}

function listenFilters() {
    for (const name of ["path", "older", "rate", "memory", "lost"])
        byId("f-" + name).addEventListener("change", takeChoice);
    byId("filters").addEventListener("submit", event => event.preventDefault());
    byId("f-clear").addEventListener("click", () => {
        app.choice = NO_CHOICE;
        showChoice();
        takeChoice();
        byId("f-path").focus();
    });
    byId("search").addEventListener("input", event => {
        search(event.target.value);
        setHash({search: event.target.value});
    });
    byId("search").addEventListener("keydown", event => {
        if (event.key === "Enter") {
            event.preventDefault();
            nextFound(event.shiftKey ? -1 : 1);
        }
    });
    byId("entries-more").addEventListener("click", () => renderEntries(app, true));
}

/* Packages and classes of the paths, to choose from. */
function fillPackages() {
    const names = new Set();
    for (const site of app.model.snapshot.sites) {
        if (site.class === "" || site.kind === "release")
            continue;
        const name = safeText(site.class);
        names.add(name);
        if (name.includes("."))
            names.add(name.slice(0, name.lastIndexOf(".")));
        if (names.size > 400)
            break;
    }
    if (names.size !== byId("packages").children.length) /* names are added to a JVM's, never changed */
        byId("packages").replaceChildren(...[...names].sort().map(name => make("option", {value: name})));
}

/* ---- The head ---- */

function tile(word, count, bytes, kind) {
    return make("div", {class: "tile " + kind}, make("dt", {}, word), make("dd", {}, countText(count),
        bytes === null ? null : make("small", {}, bytesText(bytes))));
}

function renderHead() {
    const {snapshot, report} = app.model;
    const totals = snapshot.totals;
    const jvm = snapshot.jvm;
    const places = app.model.entries.length;
    const proven = app.model.entries.filter(e => e.leaked > 0).length;
    byId("who").textContent = safeText(jvm.main || "JVM") + " (" + jvm.pid + ")";
    byId("facts").textContent = [clockText(Date.parse(snapshot.captured_at)), "JVM " + safeText(jvm.version || "?"),
        ...jvm.netty.map(n => "Netty " + safeText(n))].join(" \u00b7 ");
    document.title = (places > 0 ? places + (places === 1 ? " place loses" : " places lose") + " buffers" : "no leak") +
        " \u00b7 " + safeText(jvm.main || "JVM") + " \u00b7 bbflow";
    byId("headline").textContent = places === 0
        ? (totals.lives > 0 ? "No buffer was lost" : "No buffer was followed")
        : places + (places === 1 ? " place loses buffers" : " places lose buffers") +
          (proven === places ? "" : proven === 0 ? ", none of them proven" : ", " + proven + " of them proven");
    byId("headline").className = proven > 0 ? "leak" : places > 0 ? "open" : "good";
    const parts = [["released", totals.released, "kept"], ["live", totals.live, "live"], ["leaked", totals.leaked, "lost"],
                   ["held", totals.held, "rest"], ["harmless", totals.harmless, "rest"], ["unknown", totals.unknown, "rest"]];
    byId("bar").replaceChildren(...parts.filter(p => p[1] > 0).map(p => share(p[2], p[1], totals.lives)));
    byId("bar").setAttribute("aria-label", parts.filter(p => p[1] > 0).map(p =>
        p[0] + " " + percentText(p[1], totals.lives)).join(", ") || "no lives");
    byId("tiles").replaceChildren(tile("lives", totals.lives, null, "plain"), tile("released", totals.released, null, "kept"),
        tile("leaked", totals.leaked, totals.leaked_bytes, "lost"), tile("live", totals.live, totals.live_bytes, "live"),
        ...[["of these aged", totals.aged], ["held", totals.held], ["harmless", totals.harmless], ["unknown", totals.unknown]]
            .filter(p => p[1] > 0).map(p => tile(p[0], p[1], null, "plain")));
    /* When direct memory ends, and why it grows if nothing is lost; all of that text is at the end. */
    const why = report.why.split("\n").filter(line => line.startsWith("growth: direct memory ends") ||
                                               (places === 0 && line.startsWith("verdict:")));
    byId("notes").replaceChildren(...why.map(text => make("p", {class: "why"}, text.replace(/^(verdict|growth): /, ""))),
                                  ...report.notes.map(text => make("p", {class: "note"}, "note: " + text)),
                                  ...report.lines.map(text => make("p", {class: "line-text"}, text)));
}

function renderTexts() {
    const {report, snapshot} = app.model;
    const block = (title, text) => make("details", {}, make("summary", {}, title), make("pre", {tabindex: "0"}, text));
    const settings = Object.entries(snapshot.settings).map(([name, value]) => safeText(name + "=" + value)).join("\n");
    const texts = [["Why direct memory grows", report.why], ["Used after release", report.misuse], ["Options of the agent", settings]];
    byId("texts").replaceChildren(...texts.filter(t => t[1] !== "").map(t => block(t[0], t[1])));
}

/* ---- Light and dark ---- */

function isDark() {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function themeChanged() {
    byId("theme").textContent = isDark() ? "Light" : "Dark";
    byId("theme").setAttribute("aria-pressed", document.documentElement.dataset.theme ? "true" : "false");
    icicle.colors = null;
    redraw();
    if (app.drawStrips)
        app.drawStrips();
}

function startTheme() {
    byId("theme").addEventListener("click", () => {
        document.documentElement.dataset.theme = isDark() ? "light" : "dark";
        themeChanged();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themeChanged);
    matchMedia("print").addEventListener("change", () => {
        themeChanged();
        drawIcicle(); /* now: no frame may come before the paper */
    });
    window.addEventListener("resize", () => { if (app.drawStrips) app.drawStrips(); });
    themeChanged();
}

/* ---- Start ---- */

function save() {
    const blob = new Blob([(app.text || byId("snapshot").textContent).trim() + "\n"], {type: "application/json"});
    const link = make("a", {href: URL.createObjectURL(blob), download: "bbflow-" + app.model.snapshot.jvm.pid + ".json"});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/* From one leak to the next. */
function stepEntry(step) {
    const titles = [...document.querySelectorAll("#entries h3")];
    const at = titles.indexOf(document.activeElement);
    const to = titles[at < 0 ? (step > 0 ? 0 : titles.length - 1) : Math.min(Math.max(at + step, 0), titles.length - 1)];
    if (to !== undefined) {
        to.closest("article").scrollIntoView({block: "start"});
        to.focus({preventScroll: true});
    }
}

function listenKeys() {
    document.addEventListener("keydown", event => {
        if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey)
            return;
        if (event.key === "/") {
            event.preventDefault();
            byId("search").focus();
        } else if (event.key === "n" || event.key === "p") {
            stepEntry(event.key === "n" ? 1 : -1);
        }
    });
}

/* What the address asks for, of the pictures. */
function applyHash() {
    const hash = readHash();
    const at = id => app.model.tree.at.get(Number(id));
    app.choice = firstChoice();
    showChoice();
    byId("only-lost").checked = isChoiceSet(app.choice);
    byId("weight").value = ["lost", "bytes"].includes(hash.width) ? hash.width : "passed";
    refresh();
    byId("search").value = hash.search || "";
    search(hash.search || "");
    if (hash.zoom !== undefined && at(hash.zoom) !== undefined)
        zoomTo(app, at(hash.zoom));
    if (hash.node !== undefined && at(hash.node) !== undefined)
        selectNode(app, at(hash.node));
    if (hash.leak !== undefined)
        showEntry(app, hash.leak);
}

/* The parts that the data has, with what does not depend on the filters. */
function showParts() {
    applyChoice();
    for (const id of ["verdict", "filters", "more"])
        byId(id).hidden = false;
    for (const id of ["map", "tree-section"])
        byId(id).hidden = app.model.tree.n === 0;
    renderHead();
    fillPackages();
    if (app.model.tree.n > 0 && !app.drawn) {
        app.drawn = true;
        startTree(app);
        startIcicle(app);
    }
}

function begin(snapshot, report) {
    app.model = readModel(snapshot, report);
    readHash();
    app.choice = firstChoice();
    showParts();
    renderTexts();
    listenFilters();
    listenKeys();
    startDifference(app);
    byId("save").addEventListener("click", save);
    byId("print").addEventListener("click", () => window.print());
    window.addEventListener("hashchange", () => {
        if (location.hash === "#leaks")
            setHash({}); /* the browser has moved there; the address keeps its names */
        else
            applyHash();
    });
    applyHash();
    startTheme();
    byId("wait").hidden = true;
    document.documentElement.dataset.ready = "1";
}

/* Without data the page is the live one, whose script fetches it. */
function start() {
    const snapshot = JSON.parse(byId("snapshot").textContent);
    if (snapshot !== null)
        begin(snapshot, JSON.parse(byId("report").textContent));
}

try {
    start();
} catch (error) {
    byId("wait").hidden = false;
    byId("wait").textContent = "This page cannot show the snapshot: " + error.message;
    throw error;
}
