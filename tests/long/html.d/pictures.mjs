/* Screenshots against those that are kept, and the times of a page with many nodes. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import {DESKTOP, HERE, OUT, PHONE, UPDATE, browser, close, open, wait} from "./lib.mjs";

/* ---- Screenshots ---- */

/* Part of the blocks of 8 x 8 pixels whose mean differs by more than 24 of 255; decoded by the browser. */
async function difference(page, one, two) {
    return page.evaluate(async (a, b) => {
        const pixels = async data => {
            const image = await createImageBitmap(await (await fetch("data:image/png;base64," + data)).blob());
            const canvas = new OffscreenCanvas(image.width, image.height);
            const context = canvas.getContext("2d");
            context.drawImage(image, 0, 0);
            return context.getImageData(0, 0, image.width, image.height);
        };
        const x = await pixels(a);
        const y = await pixels(b);
        if (x.width !== y.width || Math.abs(x.height - y.height) > 24)
            return 1;
        const mean = (image, left, top, channel) => {
            let sum = 0;
            for (let dy = 0; dy < 8; dy++)
                for (let dx = 0; dx < 8; dx++)
                    sum += image.data[((top + dy) * image.width + left + dx) * 4 + channel];
            return sum / 64;
        };
        let blocks = 0;
        let differ = 0;
        for (let top = 0; top + 8 <= Math.min(x.height, y.height); top += 8)
            for (let left = 0; left + 8 <= x.width; left += 8) {
                blocks++;
                for (let channel = 0; channel < 3; channel++)
                    if (Math.abs(mean(x, left, top, channel) - mean(y, left, top, channel)) > 24) {
                        differ++;
                        break;
                    }
            }
        return differ / blocks;
    }, one, two);
}

export async function screenshotsAreAsBefore() {
    const blank = await browser.newPage();
    const cases = [["light", {theme: "light"}], ["dark", {theme: "dark"}], ["phone", {size: PHONE}],
                   ["chosen", {hash: "#path=Router.page&lost=1&zoom=8&node=8"}]];
    for (const [name, options] of cases) {
        const size = {...(options.size || DESKTOP), deviceScaleFactor: 0.4};
        const page = await open("shop.html", {...options, size});
        await wait(300);
        await page.evaluate(() => scrollTo(0, 0));
        const shot = await page.screenshot({fullPage: true, encoding: "base64"});
        const kept = path.join(HERE, name + ".png");
        fs.writeFileSync(path.join(OUT, name + ".png"), Buffer.from(shot, "base64"));
        if (UPDATE)
            fs.writeFileSync(kept, Buffer.from(shot, "base64"));
        const part = await difference(blank, fs.readFileSync(kept).toString("base64"), shot);
        console.log(`        ${name}: ${(part * 100).toFixed(2)}% of the picture differs (2% may)`);
        assert.ok(part <= 0.02, name);
        await close(page);
    }
    /* The comparison itself: light is not dark, and a card that is missing shows. */
    const png = name => fs.readFileSync(path.join(HERE, name + ".png")).toString("base64");
    assert.ok(await difference(blank, png("light"), png("dark")) > 0.5);
    await blank.close();
}

/* ---- Many nodes ---- */

const percentile = (times, part) => times.sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * part))];

export async function manyNodesStayFluid() {
    const page = await open("100000.html", {motion: "no-preference"});
    const paints = await page.evaluate(() => Object.fromEntries(performance.getEntriesByType("paint").map(e => [e.name, e.startTime])));
    const ready = await page.evaluate(() => performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd);
    const box = await (await page.$("#icicle")).boundingBox();
    await page.focus("#icicle");
    await page.$eval("#icicle", e => e.scrollIntoView({block: "center", behavior: "instant"}));
    const area = await page.$eval("#icicle", e => { const r = e.getBoundingClientRect(); return {x: r.x, y: r.y}; });
    await page.evaluate(() => {
        const draw = drawIcicle;
        window.draws = [];
        drawIcicle = () => {
            const begin = performance.now();
            draw();
            window.draws.push(performance.now() - begin);
        };
        window.frames = [];
        let last = performance.now();
        const next = now => {
            window.frames.push(now - last);
            last = now;
            requestAnimationFrame(next);
        };
        requestAnimationFrame(next);
    });
    await page.mouse.move(area.x + box.width * 0.3, area.y + 60);
    for (let i = 0; i < 120; i++) {
        await page.mouse.wheel({deltaY: i < 70 ? -60 : 60});
        await wait(8);
    }
    const draws = await page.evaluate(() => window.draws);
    const frames = (await page.evaluate(() => window.frames)).slice(2);
    const timed = code => page.evaluate(`(() => { const b = performance.now(); ${code}; return performance.now() - b; })()`);
    const times = {
        "choose --lost": await timed("byId('f-lost').value = '1'; takeChoice()"),
        "choose all": await timed("byId('f-lost').value = ''; takeChoice()"),
        "width by bytes": await timed("byId('weight').value = 'bytes'; layIcicle(app); drawIcicle()"),
        "search": await timed("search('handler1')"),
        "open all lines": await timed("treeView.open.fill(1); listLines(app)"),
        "scroll the tree": await timed("byId('tree').scrollTop = 500000; drawLines(app)")
    };
    const elements = await page.$$eval("#tree-rows > *", all => all.length);
    console.log(`        100,000 nodes: first paint ${Math.round(paints["first-contentful-paint"])} ms, ready ${Math.round(ready)} ms; zooming: ` +
                `draw median ${percentile(draws, 0.5).toFixed(1)} ms, 95% ${percentile(draws, 0.95).toFixed(1)} ms of ${draws.length}; frame median ` +
                `${percentile(frames, 0.5).toFixed(1)} ms, 95% ${percentile(frames, 0.95).toFixed(1)} ms of ${frames.length}`);
    console.log("        " + Object.entries(times).map(([name, ms]) => `${name} ${Math.round(ms)} ms`).join(", ") + `; ${elements} elements in the tree`);
    assert.ok(draws.length >= 30);
    assert.ok(paints["first-contentful-paint"] < 2000 && ready < 8000);
    assert.ok(percentile(draws, 0.95) < 16, "a frame takes too long to draw");
    assert.ok(percentile(frames, 0.5) < 25, "less than 40 frames a second");
    assert.ok(elements < 60);
    for (const [name, ms] of Object.entries(times))
        assert.ok(ms < 1000, name);
    await close(page);
}
