/* What the tests of browser.mjs and pictures.mjs share: the browser, its pages, what the command shows. */
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import fs from "node:fs";
import {createRequire} from "node:module";
import path from "node:path";

export const {NODE_MODULES, BBFLOW, OUT, HERE, SECONDS, UPDATE, FIREFOX, ONLY} = process.env;
const require = createRequire(path.join(NODE_MODULES, "x.js"));
export const puppeteer = require("puppeteer-core");
export const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
export const DESKTOP = {width: 1280, height: 900};
export const PHONE = {width: 390, height: 844};

export let browser;
export const results = {passed: 0, failed: 0};

export async function startBrowser() {
    browser = await puppeteer.launch({executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"]});
}

/* ---- Helpers ---- */

export const file = name => "file://" + path.join(OUT, name);
export const wait = ms => new Promise(done => setTimeout(done, ms));

/* A page that shows `name`; what it prints, throws, or asks the network for is a failure. */
export async function open(name, {hash = "", theme = "light", size = DESKTOP, motion = "reduce", in: of = browser} = {}) {
    const page = await of.newPage();
    page.faults = [];
    page.on("console", m => page.faults.push("console: " + m.text()));
    page.on("pageerror", e => page.faults.push("error: " + e.message));
    page.on("request", r => {
        if (!/^(file|blob|data):/.test(r.url())) /* Firefox has fonts of its own as data: */
            page.faults.push("request: " + r.url());
    });
    await page.setViewport(size);
    if (of === browser)
        await page.emulateMediaFeatures([{name: "prefers-color-scheme", value: theme},
                                         {name: "prefers-reduced-motion", value: motion}]);
    await page.goto(file(name) + hash);
    await page.waitForSelector("html[data-ready]", {timeout: 120000});
    return page;
}

export async function close(page) {
    assert.deepEqual(page.faults, []);
    await page.close();
}

export async function test(name, run) {
    if (!name.includes(ONLY))
        return;
    const begin = Date.now();
    try {
        await run();
        results.passed++;
        console.log(`ok      ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
    } catch (error) {
        results.failed++;
        console.log(`FAILED  ${name}: ${error.stack}`);
    }
}

/* What the command shows: all entries' ids, by llm, because tree lists the first ten. */
export const ids = (name, ...flags) => [...execFileSync(BBFLOW, ["llm", path.join(OUT, name + ".json"), ...flags], {encoding: "utf8"})
    .matchAll(/^divergence\|.*\|fingerprint=([0-9a-f]{16})$/gm)].map(m => m[1]);
export const command = (name, ...flags) => execFileSync(BBFLOW, ["tree", "--all", path.join(OUT, name + ".json"), ...flags], {encoding: "utf8"});
export const shownIds = page => page.$$eval("#entries .entry", all => all.map(e => e.dataset.id));
export const text = (page, selector) => page.$eval(selector, e => e.textContent);
export const active = page => page.evaluate(() => document.activeElement.id || document.activeElement.tagName);
export const current = page => page.$eval("#tree", tree => {
    const line = document.getElementById(tree.getAttribute("aria-activedescendant"));
    return line === null ? null : line.querySelector(".name").textContent;
});
