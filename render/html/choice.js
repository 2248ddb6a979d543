/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choice.js - which losses are shown: the same rules as render/choice.c, which see.
 */

const UNITS = {ms: 0.001, s: 1, m: 60, h: 3600, d: 86400};

/* "10m" to seconds; NaN: it is no duration. */
function parseDuration(text) {
    const match = /^(\d+)(ms|s|m|h|d)$/.exec(text);
    return match ? Number(match[1]) * UNITS[match[2]] : NaN;
}

/* ">1%" to {above, percent}; null: it is no rate. */
function parseRate(text) {
    const match = /^([<>])(\d+\.?\d*|\.\d+)%$/.exec(text);
    return match && Number(match[2]) <= 100 ? {above: match[1] === ">", percent: Number(match[2])} : null;
}

/* Is `pattern` a part of the name, from one boundary of names to another? '.' also matches '$'. */
function hasName(name, pattern) {
    const isEnd = c => c === undefined || c === "." || c === "$";
    for (let at = 0; at < name.length; at++) {
        if (at > 0 && !isEnd(name[at - 1]))
            continue;
        let i = 0;
        while (i < pattern.length && (name[at + i] === pattern[i] || (name[at + i] === "$" && pattern[i] === ".")))
            i++;
        if (i === pattern.length && isEnd(name[at + i]))
            return true;
    }
    return false;
}

/* By node: does a step on the way to it have the name? */
function passesName(model, path) {
    const has = model.snapshot.sites.map(site => path === "" || hasName(fullName(site), path));
    const passes = new Uint8Array(model.tree.n);
    for (let i = 0; i < model.tree.n; i++) {
        const parent = model.tree.parent[i];
        passes[i] = has[model.tree.site[i]] || (parent >= 0 && passes[parent]) ? 1 : 0;
    }
    return passes;
}

/* A choice: {lost, memory: "direct+heap", older: "10m", rate: ">1%", path}, all of them texts as a
 * flag has them. Returns which leak rows and entries are shown, and what is wrong with a text. */
function choose(model, choice) {
    const wrong = {};
    const older = choice.older === "" ? 0 : parseDuration(choice.older);
    const rate = choice.rate === "" ? null : parseRate(choice.rate);
    if (Number.isNaN(older))
        wrong.older = "a time, as 90s, 10m, 2h";
    if (choice.rate !== "" && rate === null)
        wrong.rate = "above or below a share, as >1% or <50%";
    const least = Number.isNaN(older) ? 0 : Math.floor(older);
    const memories = choice.memory === "" ? [] : choice.memory.split("+");
    const passes = passesName(model, choice.path);
    const byRate = model.entries.map(e => {
        const percent = e.passed > 0 ? 100 * (e.leaked + e.aged) / e.passed : 0;
        return rate === null || (rate.above ? percent > rate.percent : percent < rate.percent);
    });
    const leaks = model.leaks.map(leak =>
        (!choice.lost || leak.row.verdict === "leaked") &&
        (memories.length === 0 || memories.includes(leak.row.memory)) &&
        leak.row.oldest_seconds >= least && passes[leak.at] === 1 && byRate[leak.entry]);
    const entries = model.entries.map(e => false);
    leaks.forEach((shown, i) => {
        if (shown)
            entries[model.leaks[i].entry] = true;
    });
    return {leaks, entries, passes, wrong};
}

function isChoiceSet(choice) {
    return choice.lost || choice.memory !== "" || choice.older !== "" || choice.rate !== "" || choice.path !== "";
}

/* A word for a shell. */
function quoted(word) {
    return /^[\w.+%@:,/-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";
}

/* The command with the same filters. */
function commandOf(choice) {
    const words = ["bbflow tree FILE"];
    if (choice.lost)
        words.push("--lost");
    for (const name of ["memory", "older", "rate", "path"])
        if (choice[name] !== "")
            words.push("--" + name, quoted(choice[name]));
    return words.join(" ");
}
