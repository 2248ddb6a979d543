/* The page as `bbflow ui` serves it: each thing that a user has done must outlast new data. */
import assert from "node:assert/strict";
import {execFileSync, spawn} from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import {BBFLOW, DESKTOP, FIREFOX, OUT, PHONE, active, axe, browser, close, current, ids, puppeteer, shownIds, test, text,
        wait} from "./lib.mjs";

const FAKE = path.join(path.dirname(BBFLOW), "fake_agent");
const WORK = path.join(OUT, "live");
const FILE = path.join(WORK, "now.json");
const LOG = path.join(WORK, "log");

/* ---- What is served ---- */

/* At once, so that bbflow reads the old file or the new one. */
function write(document) {
    fs.writeFileSync(FILE + ".new", typeof document === "string" ? document : JSON.stringify(document));
    fs.renameSync(FILE + ".new", FILE);
}

const shop = () => JSON.parse(fs.readFileSync(path.join(OUT, "shop.json"), "utf8"));

/* `n` more lives are lost where `name` lost some before, and pass all steps above. */
function lose(document, name, n) {
    const isThere = leak => {
        const site = document.sites.find(s => s.id === document.nodes.find(node => node.id === leak.node).site);
        return (site.class + "." + site.method).endsWith(name);
    };
    const leak = document.leaks.find(isThere);
    const nodes = new Map(document.nodes.map(node => [node.id, node]));
    leak.count += n;
    leak.bytes += n * 100;
    document.totals.leaked += n;
    document.totals.lives += n;
    nodes.get(leak.node).leaked += n;
    for (let node = nodes.get(leak.node); node !== undefined; node = nodes.get(node.parent))
        node.passed += n;
    document.captured_at = new Date().toISOString();
    return document;
}

/* Nodes in front of the others in each list, because they are heavier. */
function addHeavy(document, n) {
    const from = Math.max(...document.nodes.map(node => node.id)) + 1;
    const site = document.sites.find(s => s.method === "channelRead");
    const zero = Object.fromEntries(Object.keys(document.nodes[0]).filter(k => typeof document.nodes[0][k] === "number").map(k => [k, 0]));
    for (let i = 0; i < n; i++) {
        document.sites.push({id: 9000 + i, class: "net.shop.heavy.New" + i, method: "call", descriptor: "", kind: site.kind});
        document.nodes.push({...document.nodes[0], ...zero, id: from + i, parent: 2, site: 9000 + i, released: 3e6, passed: 3e6});
    }
    for (const node of document.nodes.filter(k => k.id <= 2))
        node.passed += 3e6 * n;
    document.totals.released += 3e6 * n;
    document.totals.lives += 3e6 * n;
    return document;
}

async function until(what, condition) {
    for (let i = 0; i < 600; i++) {
        const got = await condition();
        if (got)
            return got;
        await wait(100);
    }
    throw new Error("not within a minute: " + what);
}

/* A process that is ended with the test. */
const processes = [];
function start(command, words, options) {
    const process = spawn(command, words, {stdio: ["ignore", "pipe", "pipe"], ...options});
    process.out = process.err = "";
    process.stdout.on("data", data => { process.out += data; });
    process.stderr.on("data", data => { process.err += data; });
    processes.push(process);
    return process;
}

async function serve(words, env = {}) {
    const ui = start(BBFLOW, ["ui", ...words], {env: {...process.env, XDG_RUNTIME_DIR: WORK, ...env}});
    await until("the address", () => ui.out.includes("\n") || ui.exitCode !== null);
    assert.match(ui.out, /^http:\/\/127.0.0.1:\d+\/\?token=[\w-]{43}\n$/, ui.err);
    ui.url = ui.out.trim();
    return ui;
}

const serveFile = (...words) => serve([FILE, "--interval=0.2", ...words]);

async function end(process, signal = "SIGINT") {
    process.kill(signal);
    await until("its end", () => process.exitCode !== null || process.signalCode !== null);
    return process.exitCode;
}

/* What the page prints, throws, or asks another server for is a failure; so are requests that its policy refuses. */
async function openAt(url, {hash = "", theme = "light", size = DESKTOP, motion = "reduce", in: of = browser} = {}) {
    const page = await of.newPage();
    page.faults = [];
    page.data = 0;
    page.on("console", m => page.faults.push("console: " + m.text()));
    page.on("pageerror", e => page.faults.push("error: " + e.message));
    page.on("request", r => {
        page.data += r.url().includes("/data?") ? 1 : 0;
        if (!r.url().startsWith(url.slice(0, url.indexOf("?"))) && !/^(blob|data):/.test(r.url()))
            page.faults.push("request: " + r.url());
    });
    await page.setViewport(size);
    /* As in windows side by side: headless, only the page that was opened last is visible. */
    await page.evaluateOnNewDocument(() => {
        Object.defineProperty(document, "hidden", {get: () => window.isHidden === true, configurable: true});
    });
    if (of === browser)
        await page.emulateMediaFeatures([{name: "prefers-color-scheme", value: theme}, {name: "prefers-reduced-motion", value: motion}]);
    await page.goto(url + hash);
    await page.waitForSelector("html[data-ready]", {timeout: 120000});
    return page;
}

/* Write a document and wait until the page shows it. */
async function renew(page, document) {
    const before = await page.evaluate(() => live.sequence);
    write(document);
    await page.waitForFunction(s => live.sequence !== s, {timeout: 60000, polling: 50}, before);
}

/* ---- What is shown ---- */

async function itShowsTheSameAndRenewsItself() {
    write(shop());
    const ui = await serveFile();
    const page = await openAt(ui.url);
    assert.deepEqual(await shownIds(page), ids("shop"));
    assert.match(await text(page, "#live-what"), /^Live: read at \d\d:\d\d:\d\dZ, every 0.2 s$/);
    assert.match(await text(page, "footer"), /Served by bbflow ui/);
    await page.evaluate(() => { document.documentElement.dataset.theme = "dark"; });
    await renew(page, fs.readFileSync(path.join(OUT, "later.json"), "utf8"));
    assert.deepEqual(await shownIds(page), ids("later"));
    assert.match(await text(page, "#facts"), /15:02Z/);
    assert.match(await page.title(), /^3 places lose buffers/);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    assert.equal(await end(ui), 0);
    await page.waitForFunction(() => byId("live-state").textContent.startsWith("bbflow ui has ended, or cannot be reached. This is the last state"), {polling: 50});
    assert.deepEqual(await shownIds(page), ids("later"));
    page.faults = page.faults.filter(f => !f.includes("ERR_CONNECTION_REFUSED"));
    await close(page);
}

/* All that has been chosen, as one value. */
const state = page => page.evaluate(() => ({
    hash: location.hash, choice: app.choice, search: byId("search").value, count: byId("search-count").textContent,
    crumbs: byId("crumbs").textContent, here: byId("here").textContent.replace(/:.*/, ""), weight: byId("weight").value,
    current: nameOf(app.model, treeView.current), icicle: nameOf(app.model, icicle.current), lost: byId("only-lost").checked,
    entries: [...document.querySelectorAll(".entry")].map(e => e.dataset.id),
    open: [...document.querySelectorAll(".entry details")].map(d => d.open), texts: [...document.querySelectorAll("#texts details")].map(d => d.open),
    steps: [...document.querySelectorAll(".steps")].map(s => s.children.length), focus: document.activeElement === document.body ? "" : document.activeElement.textContent || document.activeElement.id
}));

async function filtersAndSearchAndSelectionStay() {
    write(shop());
    const ui = await serveFile();
    const page = await openAt(ui.url);
    await page.select("#f-memory", "direct");
    await page.type("#f-path", "net.shop");
    await page.keyboard.press("Tab");
    await page.type("#search", "Router");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.select("#weight", "lost");
    await page.focus("#icicle");
    for (const key of ["ArrowUp", "ArrowDown", "Enter"])
        await page.keyboard.press(key);
    await page.evaluate(() => {
        document.querySelector(".entry details").open = true;
        document.querySelector("#texts details").open = true;
        [...document.querySelectorAll(".entry .tools button")].at(0).focus();
    });
    const before = await state(page);
    assert.ok(before.hash.includes("zoom=") && before.hash.includes("search=Router") && before.hash.includes("memory=direct"), before.hash);
    assert.ok(before.count.startsWith("2 of "), before.count);
    const head = await text(page, "#tiles");
    await renew(page, lose(addHeavy(shop(), 3), "CartParser.total", 1000));
    assert.deepEqual(await state(page), before);
    assert.notEqual(await text(page, "#tiles"), head);
    assert.match(await text(page, ".entry .figures"), /5,889 of/);
    /* The link brings the same to another page; the filters that are chosen next work on the new data. */
    const other = await openAt(ui.url, {hash: before.hash});
    for (const key of ["choice", "search", "crumbs", "here", "weight", "entries"])
        assert.deepEqual((await state(other))[key], before[key], key);
    await close(other);
    await page.click("#f-clear");
    assert.equal((await shownIds(page)).length, 4);
    await close(page);
    await end(ui);
}

async function longWaysStayOpen() {
    const all = fs.readFileSync(path.join(OUT, "1000.json"), "utf8");
    write(all);
    const ui = await serveFile();
    const page = await openAt(ui.url);
    const gaps = () => page.$$eval(".gap", found => found.length);
    const closed = await gaps();
    await page.click(".gap button");
    const before = await state(page);
    await renew(page, lose(JSON.parse(all), "", 5));
    assert.deepEqual((await state(page)).steps, before.steps);
    assert.equal(await gaps(), closed - 1);
    await close(page);
    await end(ui);
}

/* A view that no box has named: the part of the box that is seen stays, though the boxes have moved. */
async function theIcicleKeepsItsView() {
    write(shop());
    const ui = await serveFile();
    const page = await openAt(ui.url);
    const view = () => page.evaluate(() => {
        const at = icicle.boxes.findLast(b => b.width > 100 && b.node > 1);
        const n = app.model.tree.rows[at.node].id;
        return {n, left: (icicle.from - icicle.x[at.node]) / icicle.w[at.node], right: (icicle.to - icicle.x[at.node]) / icicle.w[at.node]};
    });
    await page.focus("#icicle");
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "+", "+", "+", "+", "+", "+"])
        await page.keyboard.press(key);
    await wait(500);
    const before = await view();
    await renew(page, addHeavy(shop(), 4));
    const after = await view();
    assert.equal(after.n, before.n);
    assert.ok(Math.abs(after.left - before.left) < 1e-6 && Math.abs(after.right - before.right) < 1e-6, JSON.stringify([before, after]));
    /* Its keys and the mouse work on the new boxes. */
    await page.keyboard.press("0");
    await page.keyboard.press("Home");
    await wait(100);
    assert.equal(await page.evaluate(() => icicle.to - icicle.from), 1);
    const box = await (await page.$("#icicle")).boundingBox();
    await page.mouse.move(box.x + 100, box.y + 22 * 2.5);
    assert.match(await text(page, "#tip"), /^New\d.call/);
    await renew(page, lose(addHeavy(shop(), 4), "CartParser.total", 10));
    assert.match(await text(page, "#tip"), /^New\d.call/);
    await page.mouse.click(box.x + 100, box.y + 22 * 2.5);
    assert.match(await text(page, "#crumbs"), /New\d.call$/);
    await page.focus("#icicle");
    await page.keyboard.press("Escape");
    assert.match(await text(page, "#crumbs"), /Router.channelRead$/);
    await close(page);
    await end(ui);
}

async function theTreeKeepsItsLines() {
    write(shop());
    const ui = await serveFile();
    const page = await openAt(ui.url);
    await page.focus("#tree");
    await page.keyboard.press("Home");
    for (let i = 0; i < 60; i++)
        await page.keyboard.press("ArrowDown");
    await wait(500);
    const top = () => page.evaluate(() => {
        const at = treeView.lines[Math.floor(byId("tree").scrollTop / LINE)];
        return app.model.tree.rows[at].id + " " + byId("tree").scrollTop % LINE;
    });
    const before = await top();
    const name = await current(page);
    await renew(page, addHeavy(shop(), 5)); /* five lines more above */
    assert.equal(await top(), before);
    assert.equal(await current(page), name);
    assert.equal(await active(page), "tree");
    await page.keyboard.press("ArrowDown");
    assert.notEqual(await current(page), name);
    await page.keyboard.press("ArrowUp");
    assert.equal(await current(page), name);
    /* What was closed stays closed, what is new in a small tree is open. */
    await page.click("#tree-close");
    await renew(page, lose(addHeavy(shop(), 5), "CartParser.total", 7));
    assert.equal(await page.evaluate(() => treeView.lines.length), 2);
    await close(page);
    await end(ui);
}

async function thePageStaysWhereItIs() {
    write(shop());
    const ui = await serveFile();
    const page = await openAt(ui.url);
    const where = () => page.$eval(".entry:nth-of-type(1)", (e, id) => document.querySelector(`article[data-id="${id}"]`).getBoundingClientRect().top, ids("shop")[2]);
    await page.$eval(`article[data-id="${ids("shop")[2]}"]`, e => scrollTo({top: scrollY + e.getBoundingClientRect().top - 60, behavior: "instant"}));
    await wait(600);
    const before = await where();
    const higher = shop();
    higher.notes = Array.from({length: 12}, (unused, i) => "a note that makes the head higher " + i);
    await renew(page, lose(higher, "CartParser.total", 3));
    assert.ok(Math.abs(await where() - before) < 2, `${before} ${await where()}`);
    await close(page);
    await end(ui);
}

async function theComparisonRenewsItself() {
    write(shop());
    const ui = await serveFile();
    const page = await openAt(ui.url);
    await (await page.$("#file")).uploadFile(path.join(OUT, "later.json"));
    await page.waitForSelector("#difference table");
    const before = await text(page, "#difference-table");
    await page.focus("#difference-table button");
    const focused = await page.evaluate(() => document.activeElement.textContent);
    await renew(page, lose(shop(), "CartParser.total", 4000));
    assert.notEqual(await text(page, "#difference-table"), before);
    assert.match(await text(page, "#difference-table"), /8,889/);
    assert.equal(await page.evaluate(() => document.activeElement.textContent), focused);
    await page.click("#difference-close");
    await renew(page, shop());
    assert.equal(await page.$eval("#difference", e => e.hidden), true);
    await close(page);
    await end(ui);
}

/* Nothing is replaced under a selection, a pressed button, a key; then it is. */
async function newDataWaitsForTheUser() {
    write(shop());
    const ui = await serveFile();
    const page = await openAt(ui.url);
    const before = await text(page, "#tiles");
    await page.evaluate(() => getSelection().selectAllChildren(document.querySelector(".entry .words")));
    write(lose(shop(), "CartParser.total", 50));
    await page.waitForFunction(() => byId("live-what").textContent === "New data waits while text is selected.", {polling: 50});
    assert.equal(await text(page, "#tiles"), before);
    assert.ok(await page.evaluate(() => getSelection().toString().length > 20));
    await page.evaluate(() => getSelection().removeAllRanges());
    await page.waitForFunction(t => byId("tiles").textContent !== t, {polling: 50}, before);
    const next = await text(page, "#tiles");
    await page.mouse.move(5, 300);
    await page.mouse.down();
    write(lose(shop(), "CartParser.total", 70));
    await wait(1200);
    assert.equal(await text(page, "#tiles"), next);
    await page.mouse.up();
    await page.waitForFunction(t => byId("tiles").textContent !== t, {polling: 50}, next);
    await close(page);
    await end(ui);
}

async function itPauses() {
    write(shop());
    const ui = await serveFile();
    const page = await openAt(ui.url);
    await page.click("#live-pause");
    assert.equal(await text(page, "#live-pause"), "Continue");
    assert.match(await text(page, "#live-what"), /^Paused: read at/);
    const before = await text(page, "#tiles");
    write(lose(shop(), "CartParser.total", 50));
    await wait(1500);
    assert.equal(await text(page, "#tiles"), before);
    await page.click("#live-pause");
    await page.waitForFunction(t => byId("tiles").textContent !== t, {polling: 50}, before);
    assert.equal(await page.$eval("#live-pause", e => e.getAttribute("aria-pressed")), "false");
    await close(page);
    await end(ui);
}

/* A reset that removes nodes; a JVM in which nothing has been followed yet. */
async function aResetIsShown() {
    const all = shop();
    const zero = {...all, leaks: [], growth: [], nodes: [], totals: Object.fromEntries(Object.keys(all.totals).map(k => [k, 0]))};
    write(zero);
    const ui = await serveFile();
    const page = await openAt(ui.url);
    assert.equal(await text(page, "#headline"), "No buffer was followed");
    assert.equal(await page.$eval("#map", e => e.hidden), true);
    await renew(page, all);
    assert.deepEqual(await shownIds(page), ids("shop"));
    await page.click(".entry .step button");
    await page.keyboard.press("ArrowUp");
    await page.focus("#icicle");
    await page.keyboard.press("Enter");
    assert.ok(await page.evaluate(() => icicle.context.getImageData(40, 10, 1, 1).data[3] === 255 && icicle.top >= 0));
    await renew(page, zero);
    assert.equal(await text(page, "#headline"), "No buffer was followed");
    assert.deepEqual(await page.evaluate(() => [location.hash, app.selected, icicle.top, treeView.lines.length]), ["", -1, -1, 0]);
    await renew(page, all);
    assert.deepEqual(await shownIds(page), ids("shop"));
    /* Another program's file with the same numbers of nodes: nothing is taken for what it was. */
    await page.click(".entry .step button");
    const other = shop();
    for (const site of other.sites)
        site.class = site.class.replace("net.shop", "org.other");
    await renew(page, other);
    assert.equal(await page.evaluate(() => treeView.current), -1);
    await close(page);
    await end(ui);
}

async function troubleIsShown() {
    write(shop());
    const ui = await serveFile();
    const page = await openAt(ui.url);
    write("{\"schema\": \u001b[31m<img src=x onerror=window.hacked=1>");
    await page.waitForFunction(() => /^It cannot be read now: .*now.json is (no bbflow snapshot|cut off)/.test(byId("live-state").textContent), {polling: 50});
    assert.deepEqual(await shownIds(page), ids("shop"));
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    write(lose(shop(), "CartParser.total", 5));
    await page.waitForFunction(() => byId("live-state").textContent === "" && byId("live").dataset.kind === "live", {polling: 50});
    await close(page);
    await end(ui);
}

async function hostileNamesStayTextLive() {
    write(fs.readFileSync(path.join(OUT, "hostile.json"), "utf8"));
    const ui = await serveFile();
    for (const size of [DESKTOP, PHONE]) {
        const page = await openAt(ui.url, {size});
        await renew(page, shop());
        await renew(page, fs.readFileSync(path.join(OUT, "hostile.json"), "utf8"));
        const found = await page.evaluate(() => ({
            hacked: window.hacked, elements: document.querySelectorAll("img, svg, iframe, object").length,
            scripts: document.querySelectorAll("script").length, text: document.body.innerText,
            over: document.documentElement.scrollWidth - document.documentElement.clientWidth
        }));
        assert.equal(found.hacked, undefined);
        assert.equal(found.elements, 0);
        assert.equal(found.scripts, 4);
        assert.equal(found.over, 0);
        assert.ok(!/[\u202a-\u202e\u2066-\u2069\u200b\u007f]/.test(found.text));
        await close(page);
    }
    await end(ui);
}

/* ---- A JVM ---- */

async function startAgent(name = "com.app.Main") {
    const agent = start(FAKE, [name], {argv0: "java", env: {...process.env, XDG_RUNTIME_DIR: WORK, FAKE_JSON: FILE, FAKE_LOG: LOG}});
    await until("the agent", () => agent.out.includes("ready"));
    return agent;
}

const reads = () => fs.existsSync(LOG) ? fs.readFileSync(LOG, "utf8").split("\n").filter(l => l.startsWith("json")).length : 0;

/* One read an interval for two browsers, none for hidden ones; what is unchanged is not fetched again. */
async function readingIsBounded() {
    write(shop());
    fs.rmSync(LOG, {force: true});
    const agent = await startAgent();
    const ui = await serve([String(agent.pid), "--interval=1"]);
    assert.equal(reads(), 1);
    const pages = [await openAt(ui.url), await openAt(ui.url)];
    const before = reads();
    await wait(6000);
    const read = reads() - before;
    assert.ok(read >= 3 && read <= 7, `${read} reads in 6 s`);
    assert.deepEqual(pages.map(p => p.data), [1, 1], "data that is unchanged is fetched");
    for (const page of pages)
        await page.evaluate(() => { window.isHidden = true; });
    await wait(7000);
    const quiet = reads();
    await wait(4000);
    assert.equal(reads(), quiet, "it is read though no browser looks");
    write(lose(shop(), "CartParser.total", 9));
    await pages[0].evaluate(() => {
        window.isHidden = false;
        document.dispatchEvent(new Event("visibilitychange"));
    });
    await pages[0].waitForFunction(() => live.sequence === 2, {polling: 50});
    assert.equal(await pages[1].evaluate(() => live.sequence), 1);
    for (const page of pages)
        await close(page);
    await end(ui);
    await end(agent, "SIGKILL");
}

async function theEndOfTheJvmIsShown() {
    write(shop());
    const agents = [await startAgent("com.app.One"), await startAgent("com.app.Two")];
    const uis = [await serve([String(agents[0].pid), "--interval=0.2"]), await serve(["app.Two", "--interval=0.2"])];
    const pages = [await openAt(uis[0].url), await openAt(uis[1].url)];
    await end(agents[0], "SIGKILL");
    await pages[0].waitForFunction(() => /^The JVM has ended. This is its last state, of \d\d:\d\d:\d\dZ.$/.test(byId("live-state").textContent), {polling: 50});
    assert.deepEqual(await shownIds(pages[0]), ids("shop"));
    assert.equal(await pages[1].evaluate(() => byId("live").dataset.kind), "live");
    await pages[0].bringToFront();
    await pages[0].click(".entry .step button");
    assert.notEqual(await current(pages[0]), null);
    const folder = fs.mkdtempSync(path.join(WORK, "saved-"));
    const client = await pages[0].createCDPSession();
    await client.send("Browser.setDownloadBehavior", {behavior: "allow", downloadPath: folder});
    await pages[0].click("#save");
    const saved = path.join(folder, "bbflow-21423.json");
    await until("the file", () => fs.existsSync(saved));
    assert.equal(execFileSync(BBFLOW, ["tree", saved], {encoding: "utf8"}), execFileSync(BBFLOW, ["tree", path.join(OUT, "shop.json")], {encoding: "utf8"}));
    /* Named, not numbered: the JVM that is started again is shown. */
    await end(agents[1], "SIGKILL");
    await pages[1].waitForFunction(() => byId("live").dataset.kind === "trouble", {polling: 50});
    write(lose(shop(), "CartParser.total", 9));
    agents.push(await startAgent("com.app.Two"));
    await pages[1].waitForFunction(() => byId("live").dataset.kind === "live", {polling: 50});
    /* A token opens its own page only. */
    const page = await browser.newPage();
    const wrong = new URL(uis[0].url).origin + "/" + new URL(uis[1].url).search;
    assert.equal((await page.goto(wrong)).status(), 403);
    assert.match(await text(page, "body"), /Open the address that this bbflow ui printed/);
    await page.close();
    for (const p of pages)
        await close(p);
    for (const ui of uis)
        assert.equal(await end(ui), 0);
    for (const agent of agents)
        await end(agent, "SIGKILL");
}

/* --open: the program that opens browsers gets an address that works once. */
async function itOpensABrowser() {
    write(shop());
    const folder = path.join(WORK, "bin");
    fs.mkdirSync(folder, {recursive: true});
    fs.writeFileSync(path.join(folder, "xdg-open"), `#!/bin/sh\necho "$1" >${WORK}/opened.new; mv ${WORK}/opened.new ${WORK}/opened\n`, {mode: 0o755});
    fs.rmSync(path.join(WORK, "opened"), {force: true});
    const ui = await serve([FILE, "--open"], {PATH: folder + ":" + process.env.PATH});
    await until("it is opened", () => fs.existsSync(path.join(WORK, "opened")));
    const address = fs.readFileSync(path.join(WORK, "opened"), "utf8").trim();
    assert.match(address, /^http:\/\/127.0.0.1:\d+\/\?key=[\w-]{43}$/);
    const page = await openAt(address);
    assert.equal(page.url().split("#")[0], ui.url);
    await close(page);
    const again = await browser.newPage();
    assert.equal((await again.goto(address)).status(), 403);
    await again.close();
    await end(ui);
}

/* ---- Accessible, fluid ---- */

async function axeFindsNothingLive() {
    for (const options of [{}, {theme: "dark"}, {size: PHONE}, {ended: true}, {ended: true, theme: "dark", size: PHONE}]) {
        write(shop());
        const ui = await serveFile();
        const page = await openAt(ui.url, options);
        await renew(page, lose(shop(), "CartParser.total", 3));
        if (options.ended) {
            await end(ui);
            await page.waitForFunction(() => byId("live").dataset.kind === "lost", {polling: 50});
        }
        await page.evaluate(source => { window.eval === undefined || source; }, "");
        const client = await page.createCDPSession();
        await client.send("Runtime.evaluate", {expression: axe});
        const found = await page.evaluate(() => window.axe.run(document, {resultTypes: ["violations"]}));
        assert.deepEqual(found.violations.map(v => `${v.id}: ${v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(" | ")}`), [], JSON.stringify(options));
        await page.close();
        if (!options.ended)
            await end(ui);
    }
}

async function manyNodesStayFluidLive() {
    const all = JSON.parse(fs.readFileSync(path.join(OUT, "100000.json"), "utf8"));
    write(all);
    const ui = await serveFile();
    const page = await openAt(ui.url, {motion: "no-preference"});
    await page.evaluate(() => {
        window.gaps = [];
        let last = performance.now();
        const next = now => {
            window.gaps.push(now - last);
            last = now;
            requestAnimationFrame(next);
        };
        requestAnimationFrame(next);
    });
    const gaps = async () => {
        const all = (await page.evaluate(() => window.gaps.splice(0))).slice(1).sort((a, b) => a - b);
        return {worst: all[all.length - 1], median: all[Math.floor(all.length / 2)], n: all.length, slow: all.filter(g => g > 50).reduce((a, b) => a + b, 0)};
    };
    await wait(2000);
    await gaps();
    await wait(3000);
    const idle = await gaps();
    const data = page.data;
    const begin = Date.now();
    for (let i = 1; i <= 3; i++)
        await renew(page, lose(all, "", 10));
    const seconds = (Date.now() - begin) / 1000;
    const busy = await gaps();
    console.log(`        100,000 nodes: unchanged: worst frame ${Math.round(idle.worst)} ms; 3 renewals in ${seconds.toFixed(1)} s: worst frame ${Math.round(busy.worst)} ms, ` +
                `median ${busy.median.toFixed(1)} ms, ${Math.round(busy.slow / (seconds * 10))}% of the time in frames above 50 ms`);
    assert.equal(page.data - data, 3);
    assert.equal(data, 1, "data that is unchanged is fetched");
    assert.ok(idle.slow < 600, "it works though nothing has changed");
    assert.ok(busy.median < 25 && busy.slow < 0.5 * seconds * 1000, "new data stops the page for too long");
    await close(page);
    await end(ui);
}

async function firefoxShowsItLive() {
    const profile = fs.mkdtempSync(path.join(OUT, "firefox-"));
    const firefox = await puppeteer.launch({browser: "firefox", executablePath: "/usr/bin/firefox-esr", userDataDir: profile});
    try {
        write(shop());
        const ui = await serveFile();
        const page = await openAt(ui.url, {in: firefox, hash: "#lost=1&zoom=3&node=5"});
        assert.deepEqual(await shownIds(page), ids("shop", "--lost"));
        const before = await state(page);
        await renew(page, lose(shop(), "CartParser.total", 1000));
        assert.deepEqual(await state(page), before);
        page.faults = page.faults.filter(f => !f.includes("/favicon.ico")); /* which the policy forbids it */
        await close(page);
        await end(ui);
    } finally {
        await firefox.close();
        fs.rmSync(profile, {recursive: true, force: true});
    }
}

export async function liveTests() {
    fs.rmSync(WORK, {recursive: true, force: true});
    fs.mkdirSync(WORK, {recursive: true, mode: 0o700});
    const all = {itShowsTheSameAndRenewsItself, filtersAndSearchAndSelectionStay, longWaysStayOpen, theIcicleKeepsItsView, theTreeKeepsItsLines,
                 thePageStaysWhereItIs, theComparisonRenewsItself, newDataWaitsForTheUser, itPauses, aResetIsShown, troubleIsShown,
                 hostileNamesStayTextLive, readingIsBounded, theEndOfTheJvmIsShown, itOpensABrowser, axeFindsNothingLive, manyNodesStayFluidLive};
    if (FIREFOX)
        all.firefoxShowsItLive = firefoxShowsItLive;
    for (const [name, run] of Object.entries(all)) {
        await test("live: " + name.replace(/[A-Z]/g, c => " " + c.toLowerCase()), run);
        processes.splice(0).forEach(p => p.exitCode === null && p.kill("SIGKILL"));
    }
}
