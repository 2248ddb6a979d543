/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data.js - the snapshot as columns, and what is summed up from it. A parent precedes its children,
 * so one pass from the end sums up a tree. Names are shown by textContent only.
 */
"use strict";

const BYTES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/* "10.2 KiB": as bbf_text_bytes(). */
function bytesText(n) {
    let unit = 0;
    let whole = n;
    while (whole >= 1024 && unit < BYTES.length - 1) {
        whole /= 1024;
        unit++;
    }
    if (unit === 0)
        return n + " B";
    let tenths = Math.floor(whole * 10 + 0.5);
    if (tenths >= 10240 && unit < BYTES.length - 1) {
        tenths = 10;
        unit++;
    }
    return Math.floor(tenths / 10) + "." + tenths % 10 + " " + BYTES[unit];
}

/* "9.62%": as bbf_text_percent(). */
function percentText(part, whole) {
    const hundredths = whole > 0 ? Math.floor(part * 10000 / whole + 0.5) : 0;
    return Math.floor(hundredths / 100) + "." + String(hundredths % 100).padStart(2, "0") + "%";
}

function countText(n) {
    return n.toLocaleString("en");
}

function clockText(ms) {
    return new Date(ms).toISOString().slice(0, 16).replace("T", " ") + "Z";
}

/* An element with its properties, then its children: texts, elements, or null. */
function make(tag, properties, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties || {})) {
        if (name.startsWith("on"))
            element.addEventListener(name.slice(2), value);
        else if (name === "class")
            element.className = value;
        else if (value !== null && value !== undefined && value !== false)
            element.setAttribute(name, value === true ? "" : value);
    }
    for (const child of children)
        if (child !== null && child !== undefined)
            element.append(child);
    return element;
}

function byId(id) {
    return document.getElementById(id);
}

/* Only another text is written: a reader of the screen speaks what is written to a status. */
function setText(id, text) {
    if (byId(id).textContent !== text)
        byId(id).textContent = text;
}

/* Controls, marks that turn the reading direction, and invisible characters, as core/safe.c has
 * them: for a document that comes without names made in C. */
const UNSAFE = new RegExp("[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b-\\u200f" +
    "\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]", "gu");

function safeText(text) {
    return text.replace(UNSAFE, c => Array.from({length: c.length}, (unused, i) =>
        "\\u" + c.charCodeAt(i).toString(16).padStart(4, "0")).join(""));
}

/* "com.app.Handler.read" of a site of the document; "" is no class. */
function fullName(site) {
    if (site.method.startsWith("?"))
        return site.class === "" ? site.method : site.method + " " + site.class;
    return site.class === "" ? site.method : site.class + "." + site.method;
}

/* A name without packages, for a document of another report. */
function shortName(full) {
    return safeText(full.replace(/(?:[^\s.()]+\.)+(?=[^\s.()]+\.[^\s.()]+)/, ""));
}

function indexById(rows) {
    const at = new Map();
    for (let i = 0; i < rows.length; i++)
        at.set(rows[i].id, i);
    return at;
}

/* A tree's columns. Indexes of nodes are places in the document. */
function readTree(snapshot) {
    const rows = snapshot.nodes;
    const n = rows.length;
    const sites = indexById(snapshot.sites);
    const tree = {
        n, rows, at: new Map(), parent: new Int32Array(n), site: new Int32Array(n),
        depth: new Int32Array(n), passed: new Float64Array(n), released: new Float64Array(n)
    };
    for (let i = 0; i < n; i++) {
        const row = rows[i];
        tree.at.set(row.id, i);
        tree.parent[i] = row.parent < 0 ? -1 : tree.at.get(row.parent);
        tree.site[i] = sites.get(row.site);
        tree.depth[i] = tree.parent[i] < 0 ? 0 : tree.depth[tree.parent[i]] + 1;
        tree.passed[i] = row.passed;
        tree.released[i] = row.released;
    }
    for (let i = n - 1; i >= 0; i--)
        if (tree.parent[i] >= 0)
            tree.released[tree.parent[i]] += tree.released[i];
    return tree;
}

/* Children of each node, and the roots as those of node n, heaviest first; equal ones in the order
 * of the document. */
function orderBy(tree, weight) {
    const n = tree.n;
    const first = new Int32Array(n + 2);
    const list = new Int32Array(n);
    for (let i = 0; i < n; i++)
        first[(tree.parent[i] < 0 ? n : tree.parent[i]) + 1]++;
    for (let i = 0; i <= n; i++)
        first[i + 1] += first[i];
    const at = first.slice();
    for (let i = 0; i < n; i++)
        list[at[tree.parent[i] < 0 ? n : tree.parent[i]]++] = i;
    for (let i = 0; i <= n; i++)
        if (first[i + 1] - first[i] > 1)
            list.subarray(first[i], first[i + 1]).sort((a, b) => weight[b] - weight[a] || a - b);
    return {first, list};
}

/* Lost lives and bytes of the leak rows that `shown` accepts, at each node and below. */
function sumLosses(model, shown) {
    const tree = model.tree;
    const own = new Float64Array(tree.n);
    const lost = new Float64Array(tree.n);
    const bytes = new Float64Array(tree.n);
    model.leaks.forEach((leak, i) => {
        if (!shown(leak, i))
            return;
        own[leak.at] += leak.row.count;
        lost[leak.at] += leak.row.count;
        bytes[leak.at] += leak.row.bytes;
    });
    for (let i = tree.n - 1; i >= 0; i--)
        if (tree.parent[i] >= 0) {
            lost[tree.parent[i]] += lost[i];
            bytes[tree.parent[i]] += bytes[i];
        }
    return {own, lost, bytes};
}

function readModel(snapshot, report) {
    const tree = readTree(snapshot);
    const model = {snapshot, report, tree, names: report.names, order: orderBy(tree, tree.passed)};
    model.leaks = snapshot.leaks.map((row, i) => ({
        row, at: tree.at.get(row.node), entry: report.leaks[i].entry, words: report.leaks[i]
    }));
    model.entries = report.entries.map((entry, i) => Object.assign({number: i, leaks: []}, entry));
    for (const leak of model.leaks)
        model.entries[leak.entry].leaks.push(leak);
    for (const entry of model.entries) {
        entry.oldest = Math.max(0, ...entry.leaks.map(l => l.row.oldest_seconds));
        for (const key of ["origin", "shared", "losing", "last", "kept", "owner"])
            entry[key + "At"] = entry[key] === undefined ? -1 : tree.at.get(entry[key]);
    }
    return model;
}

function nameOf(model, node) {
    return model.names[model.tree.site[node]];
}

/* From the root to the node. */
function pathTo(tree, node) {
    const path = [];
    for (let i = node; i >= 0; i = tree.parent[i])
        path.push(i);
    return path.reverse();
}
