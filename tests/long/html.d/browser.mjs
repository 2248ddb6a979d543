/* tests/long/html runs this: one function a test, each in a new page of a browser. */
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import {BBFLOW, DESKTOP, FIREFOX, HERE, OUT, PHONE, SECONDS, active, axe, browser, close, command, current, ids, open, puppeteer,
        results, shownIds, startBrowser, test, text, wait} from "./lib.mjs";
import {liveTests} from "./live.mjs";
import {manyNodesStayFluid, screenshotsAreAsBefore} from "./pictures.mjs";

/* ---- What is shown ---- */

async function entriesAreThoseOfTheTree() {
    for (const name of ["shop", "later", "hostile"]) {
        const page = await open(name + ".html");
        assert.deepEqual(await shownIds(page), ids(name));
        const all = command(name).split("\n").filter(l => /^\d+\. /.test(l)).map(l => l.replace(/^\d+\. /, ""));
        assert.deepEqual(await page.$$eval(".words .first", p => p.map(e => e.textContent)), all);
        await close(page);
    }
}

const FILTERS = [[], ["--lost"], ["--older", "60s"], ["--older", "10m"], ["--rate", ">1%"], ["--rate", "<0.1%"],
                 ["--memory", "heap"], ["--memory", "direct+unknown"], ["--path", "net.shop.rpc"], ["--path", "Codec"],
                 ["--path", "Cart"], ["--path", "api.Router.page"], ["--lost", "--older", "60s", "--rate", ">1%"],
                 ["--path", "Router", "--memory", "direct", "--rate", "<6%"]];

function hashOf(flags) {
    const words = new URLSearchParams();
    for (let i = 0; i < flags.length; i++)
        if (flags[i] === "--lost")
            words.set("lost", "1");
        else
            words.set(flags[i].slice(2), flags[++i]);
    return "#" + words;
}

/* The same entries in the command, in a page by that command, and in a page by its address. The tree has only the
 * lines that the command has. */
async function compareFilters(name, filters) {
    for (const flags of filters) {
        const tree = command(name, ...flags);
        const expected = ids(name, ...flags);
        const page = await open(name + ".html", {hash: hashOf(flags)});
        await page.evaluate(() => !document.getElementById("entries-more").hidden && document.getElementById("entries-more").click());
        assert.deepEqual(await shownIds(page), expected, name + " " + flags.join(" "));
        if (flags.length > 0) {
            const lines = tree.split("\n").filter(l => /^(ROOT:|[\u2502 ]*[\u251c\u2514]\u2500\u2500 |\(\+\d+\) )/.test(l)).length;
            const marked = await page.evaluate(() => onLostPaths(window.bbflow).reduce((sum, one) => sum + one, 0));
            assert.equal(marked, lines, "lines of " + flags.join(" "));
            execFileSync(BBFLOW, ["tree", path.join(OUT, name + ".json"), ...flags, "-o", path.join(OUT, "chosen.html")]);
            const chosen = await open("chosen.html");
            await chosen.evaluate(() => !document.getElementById("entries-more").hidden && document.getElementById("entries-more").click());
            assert.deepEqual(await shownIds(chosen), expected, "made with " + flags.join(" "));
            await close(chosen);
        }
        await close(page);
    }
}

async function wrongFiltersAreNamed() {
    const page = await open("shop.html");
    await page.type("#f-rate", "5");
    await page.keyboard.press("Tab");
    assert.match(await text(page, "#f-count"), /Not understood: it takes above or below a share/);
    assert.equal(await page.$eval("#f-rate", e => e.getAttribute("aria-invalid")), "true");
    assert.equal((await shownIds(page)).length, 4);
    await page.click("#f-clear");
    await page.type("#f-path", "no.such.name");
    await page.keyboard.press("Tab");
    assert.equal(await text(page, "#entries .empty"), "No loss matches these filters.");
    assert.equal(await text(page, "#f-command"), "bbflow tree FILE --path no.such.name");
    await close(page);
}

/* ---- Keys and mouse ---- */

async function theKeyboardReachesEverything() {
    const page = await open("shop.html");
    const wanted = await page.$$eval("a[href], button, input, select, summary, [tabindex='0']", all =>
        all.filter(e => e.checkVisibility() && !e.disabled && e.tabIndex >= 0).length);
    const seen = new Set();
    for (let i = 0; i < wanted + 5; i++) {
        await page.keyboard.press("Tab");
        seen.add(await page.evaluate(() => {
            window.order = window.order || [];
            const e = document.activeElement;
            if (!window.order.includes(e))
                window.order.push(e);
            return e === document.body ? -1 : window.order.indexOf(e);
        }));
    }
    seen.delete(-1);
    assert.equal(seen.size, wanted);
    const reached = await page.evaluate(() => window.order.map(e => e.id));
    for (const id of ["compare", "save", "print", "theme", "search", "f-path", "f-lost", "f-memory", "f-older", "f-rate", "weight",
                      "zoom-in", "zoom-out", "zoom-all", "icicle", "only-lost", "tree-losses", "tree-close", "tree"])
        assert.ok(reached.includes(id), id + " is not reached");
    const listens = await page.$$eval("#entries button, #entries summary, #onsets button, #texts summary", all => all.every(e => window.order.includes(e)));
    assert.ok(listens, "a button of a list is not reached");
    await close(page);
}

async function theSearchGoesFromHitToHit() {
    const page = await open("shop.html");
    await page.keyboard.press("/");
    assert.equal(await active(page), "search");
    await page.keyboard.type("codec.");
    const all = Number((await text(page, "#search-count")).match(/^(\d+) found$/)[1]);
    assert.equal(all, 61); /* Codec.encode of 60 methods, Codec.reject */
    await page.keyboard.press("Enter");
    assert.equal(await text(page, "#search-count"), "1 of 61");
    assert.match(await text(page, "#here"), /^Codec\./);
    assert.match(await current(page), /^Codec\./);
    assert.ok(await page.$eval("#tree mark", e => e.textContent.toLowerCase() === "codec."));
    await page.keyboard.down("Shift");
    await page.keyboard.press("Enter");
    await page.keyboard.up("Shift");
    assert.equal(await text(page, "#search-count"), "61 of 61");
    await close(page);
}

async function theTreeHasItsKeys() {
    const page = await open("shop.html");
    await page.focus("#tree");
    const press = async key => {
        await page.keyboard.press(key);
        return current(page);
    };
    assert.equal(await press("Home"), "AdaptiveByteBufAllocator.directBuffer");
    assert.equal(await press("ArrowDown"), "Router.channelRead");
    assert.equal(await press("ArrowDown"), "Router.page");
    await press("ArrowLeft"); /* closes it */
    assert.equal(await press("ArrowDown"), "Router.cart");
    assert.equal(await press("ArrowUp"), "Router.page");
    await press("ArrowRight");
    assert.equal(await press("ArrowRight"), "Template.render");
    assert.equal(await press("ArrowLeft") && await press("ArrowLeft"), "Router.page");
    assert.equal(await page.$eval(".line.current", e => e.getAttribute("aria-level")), "3");
    await press("ArrowLeft"); /* closes it */
    assert.equal(await press("ArrowDown"), "Router.cart");
    await press("ArrowLeft");
    assert.equal(await press("ArrowLeft"), "Router.channelRead"); /* not the line above */
    const last = await press("End");
    assert.equal(last, "AdaptiveByteBufAllocator.heapBuffer");
    assert.equal(await page.$eval(".line.current", e => e.getAttribute("aria-selected")), "true");
    await close(page);
}

async function theIcicleHasKeysAndMouse() {
    const page = await open("shop.html");
    const span = () => page.evaluate(() => icicle.to - icicle.from);
    await page.focus("#icicle");
    await page.keyboard.press("ArrowDown");
    assert.match(await text(page, "#here"), /^AdaptiveByteBufAllocator.directBuffer \[ref=1-2\]: 1,101,251 lives, 9,204 lost \(0.84%\)/);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    assert.match(await text(page, "#here"), /^Router.page /);
    await page.keyboard.press("ArrowRight");
    assert.match(await text(page, "#here"), /^Router.cart /);
    await page.keyboard.press("Enter");
    await wait(50);
    assert.match(await text(page, "#crumbs"), /^all › AdaptiveByteBufAllocator.directBuffer › Router.channelRead › Router.cart$/);
    assert.ok(Math.abs(await span() - 97588 / 1105272) < 1e-6);
    assert.match(page.url() + await page.evaluate(() => location.hash), /zoom=3/);
    await page.keyboard.press("Escape");
    await page.keyboard.press("0");
    await wait(50);
    assert.equal(await span(), 1);
    await page.keyboard.press("+");
    assert.equal(await span(), 0.5);
    const box = await (await page.$("#icicle")).boundingBox();
    await page.mouse.move(box.x + 300, box.y + 30);
    assert.match(await text(page, "#tip"), /Router.channelRead/);
    await page.mouse.wheel({deltaY: -300});
    await wait(100);
    assert.ok(await span() < 0.4);
    const before = await page.evaluate(() => icicle.from);
    await page.mouse.down();
    await page.mouse.move(box.x + 200, box.y + 30, {steps: 4});
    await page.mouse.up();
    assert.ok(await page.evaluate(() => icicle.from) > before);
    await page.click("#zoom-all");
    await wait(50);
    await page.mouse.click(box.x + 100, (await (await page.$("#icicle")).boundingBox()).y + 22 * 2.5);
    await wait(50);
    assert.match(await text(page, "#crumbs"), /Router.page$/);
    await page.select("#weight", "bytes");
    await wait(50);
    assert.match(await page.evaluate(() => location.hash), /width=bytes/);
    await close(page);
}

/* A wheel over a picture without the focus scrolls the page. */
async function theWheelScrollsThePage() {
    const page = await open("shop.html");
    await page.$eval("#icicle", e => e.scrollIntoView({block: "center"}));
    const box = await (await page.$("#icicle")).boundingBox();
    const top = await page.evaluate(() => scrollY);
    await page.mouse.move(box.x + 300, box.y + 30);
    await page.mouse.wheel({deltaY: 200});
    await wait(200);
    assert.ok(await page.evaluate(() => scrollY) > top);
    assert.equal(await page.evaluate(() => icicle.to - icicle.from), 1);
    await close(page);
}

async function stepsLeadToTheTree() {
    const page = await open("shop.html");
    await page.click(".entry .way.kept .step button");
    assert.equal(await active(page), "tree");
    assert.equal(await current(page), "Pricing.sum");
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("n");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "CartParser.total");
    await page.keyboard.press("n");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Codec.reject");
    await page.keyboard.press("p");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "CartParser.total");
    await close(page);
}

/* ---- Links, comparing, saving, printing ---- */

async function aLinkBringsBackWhatIsShown() {
    const page = await open("shop.html");
    await page.select("#f-lost", "1");
    await page.type("#f-older", "60s");
    await page.keyboard.press("Tab");
    await page.type("#search", "Router");
    await page.select("#weight", "lost");
    await page.focus("#icicle");
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "Enter"])
        await page.keyboard.press(key);
    await wait(50);
    const state = p => p.evaluate(() => ({
        here: document.getElementById("here").textContent, crumbs: document.getElementById("crumbs").textContent,
        choice: window.bbflow.choice, search: document.getElementById("search").value, from: icicle.from, to: icicle.to,
        weight: document.getElementById("weight").value, entries: [...document.querySelectorAll(".entry")].map(e => e.dataset.id)
    }));
    const hash = await page.evaluate(() => location.hash);
    const other = await open("shop.html", {hash});
    assert.deepEqual(await state(other), await state(page));
    assert.equal((await state(other)).entries.length, 2);
    await other.evaluate(() => { location.hash = "#leak=382584f70c9ceb9e"; });
    await wait(100);
    assert.equal(await other.evaluate(() => document.activeElement.textContent), "Template.fail");
    assert.equal((await shownIds(other)).length, 4);
    await close(other);
    await close(page);
}

async function twoSnapshotsAreCompared() {
    for (const name of ["later.json", "later.html"]) {
        const page = await open("shop.html");
        await (await page.$("#file")).uploadFile(path.join(OUT, name));
        await page.waitForSelector("#difference table");
        assert.match(await text(page, "#difference-what"), /^Before: net.shop.api.Shop \(21423\) of 2026-11-24 14:02Z. Now: .* 15:02Z. .* was loaded. 1 new, 0 faster, 2 the same, 0 slower, 2 gone.$/);
        const rows = await page.$$eval("#difference tbody tr", all => all.map(r => [...r.cells].map(c => c.textContent)));
        assert.equal(rows.length, 5);
        assert.deepEqual(rows[0].slice(0, 1).concat(rows[0].slice(2)), ["new", "0 → 77", "– → 0.95%", "+4.8 MiB"]);
        assert.match(rows[0][1], /^Filter13.apply[0-9a-f]{16}$/);
        const same = rows.find(r => r[1].startsWith("Template.fail"));
        assert.deepEqual(same.slice(2), ["312 → 624", "0.04% → 0.04%", "+4.9 MiB"]);
        const gone = rows.find(r => r[0] === "gone" && r[1].startsWith("CartParser.total"));
        assert.deepEqual(gone.slice(2), ["4,889 → 0", "5.01% → –", "−3.6 MiB"]);
        await page.click("#difference-close");
        assert.equal(await page.$eval("#difference", e => e.hidden), true);
        await close(page);
    }
}

async function droppedFilesAreCompared() {
    const page = await open("shop.html");
    const json = fs.readFileSync(path.join(OUT, "later.json"), "utf8");
    const drop = (name, body) => page.evaluate((n, b) => {
        const data = new DataTransfer();
        data.items.add(new File([b], n));
        document.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
    }, name, body);
    await drop("later.json", json);
    await page.waitForSelector("#difference table");
    await drop("<b>x</b>.json", "{\"schema\":\"other\"}");
    await page.waitForFunction(() => document.getElementById("difference-what").textContent.includes("cannot be compared"));
    assert.match(await text(page, "#difference-what"), /^<b>x<\/b>.json cannot be compared: it is no snapshot/);
    await drop("x.json", "][");
    await page.waitForFunction(() => document.getElementById("difference-what").textContent.startsWith("x.json"));
    await close(page);
}

async function theJsonIsSaved() {
    const page = await open("shop.html");
    const folder = fs.mkdtempSync(path.join(OUT, "saved-"));
    const client = await page.createCDPSession();
    await client.send("Browser.setDownloadBehavior", {behavior: "allow", downloadPath: folder});
    await page.click("#save");
    const saved = path.join(folder, "bbflow-21423.json");
    for (let i = 0; i < 100 && !fs.existsSync(saved); i++)
        await wait(50);
    const again = execFileSync(BBFLOW, ["tree", saved], {encoding: "utf8"});
    assert.equal(again, execFileSync(BBFLOW, ["tree", path.join(OUT, "shop.json")], {encoding: "utf8"}));
    fs.rmSync(folder, {recursive: true});
    await close(page);
}

async function itPrints() {
    const page = await open("shop.html", {theme: "dark"});
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    await page.emulateMediaType("print");
    const shown = selector => page.$eval(selector, e => getComputedStyle(e).display !== "none");
    assert.equal(await shown("#filters"), false);
    assert.equal(await shown("#tree"), false);
    assert.equal(await shown("#tree-print"), true);
    assert.equal(await page.$eval("body", e => getComputedStyle(e).backgroundColor), "rgb(255, 255, 255)");
    assert.match(await text(page, "#tree-print"), /CartParser.totalLEAK 4,889/);
    await page.emulateMediaType(null);
    const pdf = await page.pdf({printBackground: true});
    fs.writeFileSync(path.join(OUT, "shop.pdf"), pdf);
    assert.ok(pdf.length > 20000);
    await close(page);
}

async function lightAndDark() {
    const page = await open("shop.html", {theme: "light"});
    const background = () => page.$eval("body", e => getComputedStyle(e).backgroundColor);
    const light = await background();
    await page.click("#theme");
    const dark = await background();
    assert.notEqual(light, dark);
    assert.equal(await text(page, "#theme"), "Light");
    await page.click("#theme");
    assert.equal(await background(), light);
    await close(page);
    const other = await open("shop.html", {theme: "dark"});
    assert.equal(await other.$eval("body", e => getComputedStyle(e).backgroundColor), dark);
    await close(other);
}

/* ---- Hostile names ---- */

async function hostileNamesStayText(of = browser) {
    for (const size of [DESKTOP, PHONE]) {
        const page = await open("hostile.html", {size, in: of});
        await page.evaluate(() => {
            document.querySelectorAll("details").forEach(d => { d.open = true; });
            showEntry(window.bbflow, window.bbflow.model.entries[3].id);
        });
        await (await page.$("#file")).uploadFile(path.join(OUT, "hostile.json"));
        await page.waitForSelector("#difference table");
        await page.type("#search", "img");
        await wait(300);
        const found = await page.evaluate(() => ({
            hacked: window.hacked, title: document.title, text: document.body.innerText,
            elements: document.querySelectorAll("img, svg, iframe, object").length,
            scripts: document.querySelectorAll("script").length,
            over: document.documentElement.scrollWidth - document.documentElement.clientWidth
        }));
        assert.equal(found.hacked, undefined);
        assert.equal(found.elements, 0);
        assert.equal(found.scripts, 3);
        assert.match(found.title, /^8 places lose buffers · <\/title><\/script><script>window.hacked=4<\/script>\\u202e · bbflow$/);
        assert.ok(!/[\u202a-\u202e\u2066-\u2069\u200b\u007f]/.test(found.text), "a mark that turns the direction is shown raw");
        assert.ok(found.text.includes("note: note of </script><img src=x onerror=window.hacked=5>"));
        assert.ok(found.text.includes("\\u202e"));
        assert.equal(found.over, 0, "the page is wider than the window");
        await close(page);
    }
}

/* ---- Accessible ---- */

async function axeFindsNothing() {
    const cases = [["shop", {}], ["shop", {theme: "dark"}], ["shop", {size: PHONE}], ["shop", {size: PHONE, theme: "dark"}],
                   ["hostile", {}], ["1000", {hash: "#lost=1&rate=%3E1%25&search=method1"}], ["shop", {hash: "#path=no.such"}],
                   ["shop", {compare: true}], ["later", {compare: true, theme: "dark"}]];
    for (const [name, options] of cases) {
        const page = await open(name + ".html", options);
        if (options.compare) {
            await (await page.$("#file")).uploadFile(path.join(OUT, name === "shop" ? "later.json" : "shop.json"));
            await page.waitForSelector("#difference table");
        }
        await page.evaluate(() => document.querySelectorAll("details").forEach(d => { d.open = true; }));
        await page.evaluate(axe);
        const found = await page.evaluate(() => window.axe.run(document, {resultTypes: ["violations"]}));
        const bad = found.violations.map(v => `${v.id}: ${v.help}: ` + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(" | "));
        assert.deepEqual(bad, [], name + " " + JSON.stringify(options));
        assert.ok(found.passes === undefined || found.violations.length === 0);
        await close(page);
    }
}

async function lessMotionIsRespected() {
    const page = await open("shop.html", {motion: "reduce"});
    const frames = async () => {
        await page.evaluate(() => { zoomTo(window.bbflow, 2); });
        return page.evaluate(() => icicle.animation);
    };
    assert.equal(await frames(), null);
    await close(page);
    const moving = await open("shop.html", {motion: "no-preference"});
    assert.notEqual(await moving.evaluate(() => {
        zoomTo(window.bbflow, 2);
        return icicle.animation;
    }), null);
    await close(moving);
}

/* ---- Firefox ---- */

async function firefoxShowsTheSame() {
    const profile = fs.mkdtempSync(path.join(OUT, "firefox-"));
    const firefox = await puppeteer.launch({browser: "firefox", executablePath: "/usr/bin/firefox-esr", userDataDir: profile});
    try {
        for (const name of ["shop", "later", "hostile", "1000"]) {
            const page = await open(name + ".html", {in: firefox});
            assert.deepEqual((await shownIds(page)), ids(name).slice(0, 50));
            await close(page);
        }
        const page = await open("shop.html", {hash: "#lost=1&older=60s&zoom=3&node=5", in: firefox});
        assert.deepEqual(await shownIds(page), ids("shop", "--lost", "--older", "60s"));
        assert.match(await text(page, "#crumbs"), /Router.cart$/);
        await page.focus("#tree");
        await page.keyboard.press("Home");
        assert.equal(await current(page), "AdaptiveByteBufAllocator.directBuffer");
        assert.match(await page.evaluate(() => location.hash), /node=1/);
        assert.ok(await page.evaluate(() => {
            const data = icicle.context.getImageData(40, 10, 1, 1).data;
            return data[0] + data[1] + data[2] < 760;
        }), "nothing is drawn");
        await close(page);
        await hostileNamesStayText(firefox);
    } finally {
        await firefox.close();
        fs.rmSync(profile, {recursive: true, force: true});
    }
}

/* ---- Random snapshots ---- */

async function randomFilters(seconds) {
    const end = Date.now() + seconds * 1000;
    const pick = list => list[Math.floor(Math.random() * list.length)];
    let rounds = 0;
    while (Date.now() < end) {
        const nodes = String(100 + Math.floor(Math.random() * 3000));
        fs.writeFileSync(path.join(OUT, "random.json"), execFileSync("python3", [path.join(HERE, "make_snapshot.py"), nodes], {maxBuffer: 1 << 28}));
        execFileSync(BBFLOW, ["tree", path.join(OUT, "random.json"), "-o", path.join(OUT, "random.html")]);
        const flags = [];
        if (Math.random() < 0.4)
            flags.push("--lost");
        if (Math.random() < 0.5)
            flags.push("--older", pick(["1s", "500s", "20m", "1h", "4000s"]));
        if (Math.random() < 0.5)
            flags.push("--rate", pick(["<", ">"]) + pick(["0.1", "1", "5", "50", "99.5"]) + "%");
        if (Math.random() < 0.5)
            flags.push("--path", pick(["net.big", "p" + Math.floor(Math.random() * 40), "Handler" + Math.floor(Math.random() * 700),
                                       "method" + Math.floor(Math.random() * 9), "big.p1", "Alloc"]));
        await compareFilters("random", [flags]).catch(error => {
            throw new Error(`${nodes} nodes, ${flags.join(" ")}: ${error.message}`);
        });
        rounds++;
    }
    console.log(`        ${rounds} random snapshots and filters`);
    assert.ok(rounds > 0);
}

await startBrowser();
console.log("        " + await browser.version());
await test("entries are those of the tree", entriesAreThoseOfTheTree);
await test("filters choose what the command's flags choose", () => compareFilters("shop", FILTERS));
await test("filters of a bushy tree", () => compareFilters("1000", [["--rate", ">1%"], ["--path", "p7"], ["--older", "20m", "--lost"]]));
await test("wrong filters are named", wrongFiltersAreNamed);
await test("the keyboard reaches everything", theKeyboardReachesEverything);
await test("the search goes from hit to hit", theSearchGoesFromHitToHit);
await test("the tree has its keys", theTreeHasItsKeys);
await test("the icicle has keys and mouse", theIcicleHasKeysAndMouse);
await test("the wheel scrolls the page", theWheelScrollsThePage);
await test("steps lead to the tree", stepsLeadToTheTree);
await test("a link brings back what is shown", aLinkBringsBackWhatIsShown);
await test("two snapshots are compared", twoSnapshotsAreCompared);
await test("dropped files are compared", droppedFilesAreCompared);
await test("the JSON is saved", theJsonIsSaved);
await test("it prints", itPrints);
await test("light and dark", lightAndDark);
await test("hostile names stay text", () => hostileNamesStayText());
await test("axe-core finds nothing", axeFindsNothing);
await test("less motion is respected", lessMotionIsRespected);
await test("screenshots are as before", screenshotsAreAsBefore);
await test("many nodes stay fluid", manyNodesStayFluid);
await liveTests();
if (Number(SECONDS) > 0)
    await test("random filters", () => randomFilters(Number(SECONDS)));
await browser.close();
if (FIREFOX)
    await test("Firefox shows the same", firefoxShowsTheSame);
console.log(`${results.passed} passed, ${results.failed} failed`);
process.exit(results.failed > 0 ? 1 : 0);
