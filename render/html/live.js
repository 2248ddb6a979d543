/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.js - the page as `bbflow ui` serves it: it asks for the state again and again while it is
 * looked at, fetches data that is new, and shows it without losing what the user has chosen, opened,
 * found, zoomed to, or scrolled to. Not part of a page that is written to a file.
 */

const POLL_MOST_MS = 2000;
const POLL_READING_MS = 250;
const POLL_LOST_MS = 3000;
const QUIET_MS = 400; /* after a key or the wheel */
const SHARE = 9;      /* at most a tenth of the time is spent with new data */
const FOCUSABLE = "button, summary, h3, pre";

const live = {token: new URLSearchParams(location.search).get("token") || "", sequence: 0, paused: false, ended: false,
              polling: false, timer: 0, next: 0, touched: -QUIET_MS, isDown: false};

/* ---- What is kept: nodes ---- */

function isSameSite(a, b) {
    return b !== undefined && a.class === b.class && a.method === b.method && a.kind === b.kind && a.descriptor === b.descriptor;
}

/* By node of the old model its place in the new one, or -1: the same number, name and way. Numbers
 * alone would do for one JVM, but a file may come from another one. */
function placesIn(model, old) {
    const ids = indexById(model.snapshot.sites);
    const siteOf = old.snapshot.sites.map(site => {
        const at = ids.get(site.id);
        return at !== undefined && isSameSite(site, model.snapshot.sites[at]) ? at : -1;
    });
    const places = new Int32Array(old.tree.n).fill(-1);
    for (let i = 0; i < old.tree.n; i++) {
        const at = model.tree.at.get(old.tree.rows[i].id);
        const parent = old.tree.parent[i];
        if (at !== undefined && siteOf[old.tree.site[i]] === model.tree.site[at] && old.tree.rows[i].ref === model.tree.rows[at].ref &&
            (parent < 0 ? -1 : places[parent]) === model.tree.parent[at] && (parent < 0 || places[parent] >= 0))
            places[i] = at;
    }
    return places;
}

function placeIn(places, node) {
    return node < 0 ? -1 : places[node];
}

/* ---- What is kept: the icicle ---- */

/* The smallest box that has all of what is seen, and the part of it. */
function seenPart() {
    const list = icicle.order.list;
    const first = icicle.order.first;
    const has = node => icicle.x[node] <= icicle.from && icicle.x[node] + icicle.w[node] >= icicle.to;
    let box = -1;
    for (;;) {
        const run = box < 0 ? first.length - 2 : box;
        const at = firstVisible(first[run], first[run + 1], icicle.from);
        if (at >= first[run + 1] || !has(list[at]))
            break;
        box = list[at];
    }
    const x = box < 0 ? 0 : icicle.x[box];
    const w = box < 0 ? 1 : icicle.w[box];
    return {box, from: (icicle.from - x) / w, to: (icicle.to - x) / w};
}

function renewIcicle(places, seen) {
    const zoomed = icicle.top;
    icicle.top = placeIn(places, icicle.top);
    icicle.current = placeIn(places, icicle.current);
    icicle.hover = -1;
    layIcicle(app);
    const box = placeIn(places, seen.box);
    if (icicle.top >= 0 && icicle.w[icicle.top] === 0)
        icicle.top = -1;
    if (seen.box < 0 || (box >= 0 && icicle.w[box] > 0)) {
        const x = box < 0 ? 0 : icicle.x[box];
        const w = box < 0 ? 1 : icicle.w[box];
        view(x + seen.from * w, x + seen.to * w);
    } else {
        const x = icicle.top < 0 ? 0 : icicle.x[icicle.top];
        view(x, x + (icicle.top < 0 ? 1 : icicle.w[icicle.top]));
    }
    if (zoomed >= 0 && icicle.top < 0)
        setHash({zoom: ""});
    sizeIcicle(app, icicle.from, icicle.to);
    showCrumbs(app);
    setText("here", icicle.current < 0 ? "" : describe(app, icicle.current));
    drawIcicle();
}

/* ---- What is kept: the tree ---- */

/* The line at the top of the box, and how much of it is above. */
function topLine() {
    const box = byId("tree");
    const at = Math.floor(box.scrollTop / LINE);
    return {at, rest: box.scrollTop - at * LINE, lines: treeView.lines};
}

function renewOpen(old, places) {
    const model = app.model;
    const open = new Uint8Array(model.tree.n);
    const known = new Uint8Array(model.tree.n);
    for (let i = 0; i < old.tree.n; i++)
        if (places[i] >= 0) {
            known[places[i]] = 1;
            open[places[i]] = treeView.open[i];
        }
    if (model.tree.n <= TREE_OPEN)
        for (let i = 0; i < model.tree.n; i++)
            open[i] |= known[i] ^ 1;
    /* The way to a bug that was not there before. */
    const ids = new Set(old.entries.map(e => e.id));
    for (const entry of model.entries)
        if (!ids.has(entry.id))
            for (let node = model.tree.parent[entry.lastAt]; node >= 0; node = model.tree.parent[node])
                open[node] = 1;
    treeView.open = open;
}

function renewTree(old, places, top) {
    renewOpen(old, places);
    treeView.current = placeIn(places, treeView.current);
    renderTree(app);
    if (top.at === 0 && top.rest === 0)
        return;
    for (let i = top.at; i >= 0 && i < top.lines.length; i--) {
        const node = places[top.lines[i]];
        if (node >= 0 && placeOf(node) >= 0) {
            byId("tree").scrollTop = placeOf(node) * LINE + top.rest;
            drawLines(app);
            return;
        }
    }
}

/* ---- What is kept: the lists ---- */

/* Of the element that has the focus: the part of the page that is made anew, and its place there. */
function focusPlace() {
    const element = document.activeElement;
    const box = element.closest("article.entry, #onsets, #difference-table, #texts, #crumbs");
    if (box === null || element === box)
        return null;
    const all = [...box.querySelectorAll(FOCUSABLE)];
    return {box: box.id === "" ? "article.entry[data-id=\"" + box.dataset.id + "\"]" : "#" + box.id,
            at: all.indexOf(element), text: element.textContent};
}

function restoreFocus(place) {
    const box = place === null ? null : document.querySelector(place.box);
    if (box === null)
        return;
    const all = [...box.querySelectorAll(FOCUSABLE)];
    const same = all[place.at] !== undefined && all[place.at].textContent === place.text ? all[place.at]
        : all.find(e => e.textContent === place.text) || all[place.at];
    if (same !== undefined)
        same.focus({preventScroll: true});
}

function rememberCards() {
    const cards = new Map();
    for (const card of document.querySelectorAll("article.entry"))
        cards.set(card.dataset.id, {
            open: card.querySelector("details").open,
            whole: [...card.querySelectorAll(".way")].map(way => way.querySelector("[data-whole]") !== null)
        });
    return cards;
}

function restoreCards(cards) {
    for (const card of document.querySelectorAll("article.entry")) {
        const was = cards.get(card.dataset.id);
        if (was === undefined)
            continue;
        card.querySelector("details").open = was.open;
        [...card.querySelectorAll(".way")].forEach((way, i) => {
            const gap = way.querySelector(".gap button");
            if (was.whole[i] && gap !== null)
                gap.click();
        });
    }
}

function renewTexts() {
    const open = new Set([...document.querySelectorAll("#texts details[open] summary")].map(e => e.textContent));
    renderTexts();
    for (const block of document.querySelectorAll("#texts details"))
        block.open = open.has(block.querySelector("summary").textContent);
}

/* The part of the page at the window's top, so that it stays there whatever grows above it. */
function pagePlace() {
    if (scrollY === 0)
        return null;
    const parts = [...document.querySelectorAll("article.entry, main > section[id]:not([hidden])")];
    const seen = parts.findLast(e => e.getBoundingClientRect().top <= 120 && e.getBoundingClientRect().bottom > 120);
    if (seen === undefined)
        return null;
    return {selector: seen.dataset.id === undefined ? "#" + seen.id : "article.entry[data-id=\"" + seen.dataset.id + "\"]",
            top: seen.getBoundingClientRect().top, scroll: scrollY};
}

function restorePage(place) {
    const element = place === null ? null : document.querySelector(place.selector);
    if (element !== null)
        scrollTo({top: scrollY + element.getBoundingClientRect().top - place.top, behavior: "instant"});
    else if (place !== null)
        scrollTo({top: place.scroll, behavior: "instant"});
}

function renewSearch(places) {
    const found = app.found && app.foundAt >= 0 ? placeIn(places, app.found[app.foundAt]) : -1;
    search(app.search);
    app.foundAt = found < 0 || app.search === "" ? -1 : app.found.indexOf(found);
    if (app.foundAt >= 0)
        setText("search-count", app.foundAt + 1 + " of " + app.found.length);
}

/* ---- New data ---- */

function renewPictures(old, places, kept) {
    if (!app.drawn)
        return;
    if (!kept.drawn) { /* the first nodes: startTree() and startIcicle() have shown them */
        renderTree(app);
        return;
    }
    const selected = app.selected;
    app.selected = placeIn(places, app.selected);
    renewTree(old, places, kept.top);
    renewIcicle(places, kept.seen);
    if (selected >= 0 && app.selected < 0)
        setHash({node: ""});
    if (kept.hovered && icicle.pointer)
        hoverAt(app, icicle.pointer);
}

/* Show other data in the place of that which is shown. */
function renew(model) {
    const old = app.model;
    const places = placesIn(model, old);
    const kept = {drawn: app.drawn, cards: rememberCards(), focus: focusPlace(), page: pagePlace(), top: topLine(),
                  seen: app.drawn ? seenPart() : null, hovered: icicle.hover >= 0 && !byId("tip").hidden};
    byId("tip").hidden = true;
    app.model = model;
    showParts();
    renewPictures(old, places, kept);
    renderEntries(app, app.allEntries);
    restoreCards(kept.cards);
    renewTexts();
    renewSearch(places);
    renderOnsets(app);
    if (app.other)
        showDifference(app, app.other.snapshot, app.other.name);
    restoreFocus(kept.focus);
    restorePage(kept.page);
}

/* Is the user in the midst of something that new data would disturb? */
function busyWith() {
    if (!getSelection().isCollapsed)
        return "text is selected";
    if (live.isDown || icicle.animation !== null || performance.now() - live.touched < QUIET_MS)
        return "you move";
    return "";
}

const pauseFor = ms => new Promise(done => setTimeout(done, ms));

async function untilQuiet() {
    for (let why = busyWith(); why !== ""; why = busyWith()) {
        if (why === "text is selected")
            setText("live-what", "New data waits while " + why + ".");
        await pauseFor(100);
    }
}

/* Not an error of the page: it is shown, and asked again later. */
class Lost extends Error {}

async function ask(path) {
    let response;
    try {
        response = await fetch(path + "?token=" + encodeURIComponent(live.token), {cache: "no-store"});
    } catch (error) {
        throw new Lost("bbflow ui has ended, or cannot be reached.");
    }
    if (!response.ok)
        throw new Lost((await response.text()).trim() || "status " + response.status);
    return response;
}

/* In steps between which keys and the wheel are obeyed. */
async function takeData() {
    const response = await ask("data");
    const sequence = Number(response.headers.get("Bbflow-Sequence"));
    const text = await response.text();
    const began = performance.now();
    const cut = text.indexOf("\u001e");
    const report = JSON.parse(text.slice(0, cut));
    await pauseFor(0);
    app.text = text.slice(cut + 1);
    const snapshot = JSON.parse(app.text);
    await pauseFor(0);
    if (app.model === undefined) {
        begin(snapshot, report);
    } else {
        const model = readModel(snapshot, report);
        await untilQuiet();
        renew(model);
    }
    live.sequence = sequence;
    live.next = performance.now() + SHARE * (performance.now() - began);
}

/* ---- The state ---- */

function timeText(ms) {
    return new Date(ms).toISOString().slice(11, 19) + "Z";
}

function showLive(kind, what, state) {
    byId("live").dataset.kind = kind;
    setText("live-what", what);
    setText("live-state", state);
    byId("live-pause").disabled = kind === "ended";
}

function showState(state) {
    const last = " This is its last state, of " + timeText(state.read) + ".";
    live.ended = state.state === "ended";
    if (live.ended)
        showLive("ended", "", "The JVM has ended." + last);
    else if (state.state === "trouble")
        showLive("trouble", "", "It cannot be read now: " + safeText(state.message) + "." + last);
    else
        showLive("live", "Live: read at " + timeText(state.read) + ", every " + state.interval / 1000 + " s", "");
    live.read = state.read;
}

function showLost(error) {
    const why = safeText(error.message);
    showLive("lost", "", why + (live.read === undefined ? "" : " This is the last state, of " + timeText(live.read) + "."));
    if (app.model === undefined)
        byId("wait").textContent = why;
}

async function pollOnce() {
    try {
        const state = await (await ask("state")).json();
        if (state.sequence !== live.sequence && performance.now() >= live.next)
            await takeData();
        if (live.paused)
            return 0;
        showState(state);
        if (live.ended && state.sequence === live.sequence)
            return 0;
        return state.reading ? POLL_READING_MS : Math.min(state.interval, POLL_MOST_MS);
    } catch (error) {
        showLost(error);
        if (!(error instanceof Lost))
            console.error(error);
        return POLL_LOST_MS;
    }
}

/* None while the page is hidden or paused: then the JVM is not read. */
async function poll() {
    clearTimeout(live.timer);
    if (live.polling || live.paused || document.hidden)
        return;
    live.polling = true;
    const wait = await pollOnce();
    live.polling = false;
    if (wait > 0)
        live.timer = setTimeout(poll, wait);
}

function pause() {
    live.paused = !live.paused;
    byId("live-pause").textContent = live.paused ? "Continue" : "Pause";
    byId("live-pause").setAttribute("aria-pressed", String(live.paused));
    if (live.paused)
        showLive("paused", "Paused" + (live.read === undefined ? "" : ": read at " + timeText(live.read)), "");
    poll();
}

function startLive() {
    document.querySelector("header.top").after(make("section", {id: "live", "aria-label": "Live"},
        make("span", {class: "lamp", "aria-hidden": "true"}), make("span", {id: "live-what"}), make("span", {id: "live-state", role: "status"}),
        make("button", {type: "button", id: "live-pause", "aria-pressed": "false", onclick: pause}, "Pause")));
    document.querySelector("footer p").firstChild.textContent =
        "Served by bbflow ui on this machine, for as long as it runs; Save JSON keeps what is shown. Words: ";
    document.documentElement.style.overflowAnchor = "none"; /* restorePage() does it */
    const touch = () => { live.touched = performance.now(); };
    document.addEventListener("wheel", touch, {passive: true, capture: true});
    document.addEventListener("keydown", touch, {capture: true});
    document.addEventListener("scroll", touch, {passive: true, capture: true});
    document.addEventListener("pointerdown", () => { live.isDown = true; }, {capture: true});
    for (const name of ["pointerup", "pointercancel", "blur"])
        window.addEventListener(name, () => { live.isDown = false; }, {capture: true});
    document.addEventListener("visibilitychange", poll);
    window.addEventListener("pageshow", poll);
    poll();
}

startLive();
