/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.js - this snapshot beside another one, leak by leak: the fingerprint is the same in every run
 * and build. Rates are compared, because twice the load loses twice as many.
 */

/* A snapshot from a text: the JSON document, or a page like this one that has it. */
function documentOf(text) {
    const page = /<script type="application\/json" id="snapshot">([^<]*)<\/script>/.exec(text);
    const snapshot = JSON.parse(page ? page[1] : text);
    if (snapshot.schema !== "bbflow-snapshot/1" || !Array.isArray(snapshot.leaks) || !Array.isArray(snapshot.nodes))
        throw new Error("it is no snapshot of bbflow (bbflow-snapshot/1)");
    return snapshot;
}

/* By node: where the way to it leaves that of lives which were released: itself, or the nearest step
 * above it below which something is released, or its root. */
function placesOf(snapshot) {
    const at = indexById(snapshot.nodes);
    const nodes = snapshot.nodes;
    const parents = nodes.map(node => node.parent < 0 ? -1 : at.get(node.parent));
    const released = nodes.map(node => node.released);
    for (let i = nodes.length - 1; i >= 0; i--)
        if (parents[i] >= 0)
            released[parents[i]] += released[i];
    return id => {
        let node = at.get(id);
        while (released[node] === 0 && parents[node] >= 0)
            node = parents[node];
        return nodes[node];
    };
}

/* Leak rows by fingerprint: what was lost, of how many that came to the places where their ways
 * divide. */
function leaksOf(snapshot) {
    const placeOf = placesOf(snapshot);
    const found = new Map();
    for (const row of snapshot.leaks) {
        const id = row.fingerprint || row.path.join(" \u2192 ") || "node " + row.node;
        const sum = found.get(id) || {id, path: row.path, leaked: 0, aged: 0, bytes: 0, passed: 0, places: new Set()};
        const place = placeOf(row.node);
        sum[row.verdict === "aged" ? "aged" : "leaked"] += row.count;
        sum.bytes += row.bytes;
        if (!sum.places.has(place.id))
            sum.passed += place.passed;
        sum.places.add(place.id);
        found.set(id, sum);
    }
    return found;
}

const NOTHING = {leaked: 0, aged: 0, bytes: 0, passed: 0, path: []};

function lostIn(sum) {
    return sum.leaked + sum.aged;
}

function rateText(sum) {
    return sum.passed > 0 ? percentText(lostIn(sum), sum.passed) : "\u2013";
}

/* "new", "gone", "faster", "slower", "same": by the rate, within a tenth of it. */
function changeOf(before, now) {
    if (lostIn(before) === 0)
        return "new";
    if (lostIn(now) === 0)
        return "gone";
    const old = lostIn(before) / before.passed;
    const rate = lostIn(now) / now.passed;
    return rate > old * 1.1 ? "faster" : rate < old * 0.9 ? "slower" : "same";
}

function compareSnapshots(first, second) {
    const before = leaksOf(first);
    const now = leaksOf(second);
    const ids = new Set([...before.keys(), ...now.keys()]);
    const order = ["new", "faster", "same", "slower", "gone"];
    return [...ids].map(id => {
        const a = before.get(id) || NOTHING;
        const b = now.get(id) || NOTHING;
        return {id, a, b, path: b.path.length > 0 ? b.path : a.path, change: changeOf(a, b)};
    }).sort((x, y) => order.indexOf(x.change) - order.indexOf(y.change) ||
                      (y.b.bytes - y.a.bytes) - (x.b.bytes - x.a.bytes) || (x.id < y.id ? -1 : 1));
}

function differenceRow(app, row) {
    const last = row.path.length > 0 ? shortName(row.path[row.path.length - 1]) : row.id;
    const mine = app.model.leaks.find(leak => leak.row.fingerprint === row.id);
    const place = make("td", {});
    if (mine !== undefined)
        place.append(make("button", {type: "button", onclick: () => showNode(mine.at)}, make("span", {class: "name"}, last)));
    else
        place.append(make("span", {class: "name"}, last));
    place.append(make("code", {class: "id"}, row.id));
    const bytes = row.b.bytes - row.a.bytes;
    return make("tr", {class: "change-" + row.change},
        make("td", {}, make("span", {class: "badge"}, row.change)), place,
        make("td", {class: "number"}, countText(lostIn(row.a)) + " \u2192 " + countText(lostIn(row.b))),
        make("td", {class: "number"}, rateText(row.a) + " \u2192 " + rateText(row.b)),
        make("td", {class: "number"}, (bytes > 0 ? "+" : bytes < 0 ? "\u2212" : "\u00b1") + bytesText(Math.abs(bytes))));
}

function whichText(snapshot) {
    return safeText(snapshot.jvm.main || "?") + " (" + snapshot.jvm.pid + ") of " + clockText(Date.parse(snapshot.captured_at));
}

function showDifference(app, other, name) {
    const own = app.model.snapshot;
    const first = Date.parse(other.captured_at) <= Date.parse(own.captured_at) ? other : own;
    const second = first === own ? other : own;
    const rows = compareSnapshots(first, second);
    const count = change => rows.filter(r => r.change === change).length;
    byId("difference-what").textContent = "Before: " + whichText(first) + ". Now: " + whichText(second) + ". " +
        safeText(name) + " was loaded. " + count("new") + " new, " + count("faster") + " faster, " + count("same") +
        " the same, " + count("slower") + " slower, " + count("gone") + " gone.";
    const table = make("table", {},
        make("thead", {}, make("tr", {}, ...["change", "lost in", "lost lives", "rate", "bytes"].map(word =>
            make("th", {scope: "col"}, word)))),
        make("tbody", {}, ...rows.map(row => differenceRow(app, row))));
    byId("difference-table").replaceChildren(rows.length > 0 ? table : make("p", {}, "Neither snapshot has a leak."));
    byId("difference").hidden = false;
}

async function loadOther(app, file) {
    try {
        const snapshot = documentOf(await file.text());
        showDifference(app, snapshot, file.name);
        app.other = {snapshot, name: file.name};
        byId("difference-title").scrollIntoView({block: "start"});
    } catch (error) {
        app.other = null;
        byId("difference").hidden = false;
        byId("difference-table").replaceChildren();
        byId("difference-what").textContent = safeText(file.name) + " cannot be compared: " + error.message;
    }
}

function startDifference(app) {
    byId("compare").addEventListener("click", () => byId("file").click());
    byId("file").addEventListener("change", event => {
        if (event.target.files.length > 0)
            loadOther(app, event.target.files[0]);
        event.target.value = "";
    });
    byId("difference-close").addEventListener("click", () => {
        app.other = null;
        byId("difference").hidden = true;
        byId("compare").focus();
    });
    document.addEventListener("dragover", event => {
        event.preventDefault();
        byId("drop").hidden = false;
    });
    document.addEventListener("dragleave", event => {
        if (event.relatedTarget === null)
            byId("drop").hidden = true;
    });
    document.addEventListener("drop", event => {
        event.preventDefault();
        byId("drop").hidden = true;
        if (event.dataTransfer.files.length > 0)
            loadOther(app, event.dataTransfer.files[0]);
    });
}
