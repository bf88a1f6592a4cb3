// Opens stchat's pages in a real Chromium, from disk: node pages.mjs STCHAT AXE FOLDER. AXE is axe-core's axe.min.js; FOLDER is empty.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import zlib from 'node:zlib';

import { findBrowser, openPage } from '../conformance/browser.mjs';
import { header, lines, pngChunk, signature } from '../conformance/fixtures.mjs';
import { until } from '../conformance/waits.mjs';

const [, , stchat, axeFile, folder] = process.argv;
const axe = fs.readFileSync(axeFile, 'utf8');
const user = path.join(folder, 'default-user');
const owner = 'Maren <b>Holm';

/** A picture that says what nobody is to read. */
const secret = 'the definition of the card';
const png = Buffer.concat([
    signature,
    pngChunk('IHDR', Buffer.from([0, 0, 0, 8, 0, 0, 0, 8, 8, 2, 0, 0, 0])),
    pngChunk('tEXt', Buffer.from(`chara\0${secret}`)),
    pngChunk('IDAT', zlib.deflateSync(Buffer.alloc(8 * 25, 90))),
    pngChunk('IEND', Buffer.alloc(0)),
]);

const hostile = [
    '<img src=x onerror="window.pwned=1">', '</style><script>window.pwned=1</script>', ']]>', '</p></article></main><script>window.pwned=1</script>',
    '[here](javascript:window.pwned=1) [there](data:text/html,<script>1</script>) [and](//host.example/x)', '&#27;]52;c;x\x07 &#x202E;turned',
    '"\' onmouseover="window.pwned=1" x="', '<svg onload="window.pwned=1"><iframe srcdoc="<script>parent.pwned=1</script>">', '![x](https://host.example/x.png)',
];

function put(name, messages, meta = {}) {
    const file = path.join(user, 'chats', owner, `${name}.jsonl`);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, lines(header(meta, {}), ...messages));
}

const story = hostile.map((mes, i) => ({
    name: i === 5 ? 'Ines of the harbour road' : i % 2 ? 'Ines' : owner, is_user: i % 2 === 1, is_system: i === 5, mes: `${mes} word${i}`, send_date: `2026-0${1 + (i >> 2)}-0${1 + i}T18:42:00.000Z`,
    ...(i % 2 ? {} : { swipes: [`${mes} word${i}`, `${mes} other${i}`], swipe_id: 0 }),
    extra: { reasoning: mes, title: mes, ...(i === 3 || i === 4 ? { branches: Array.from({ length: 20 }, (_, n) => `branch ${n} ${'of a long name '.repeat(n % 4)}`) } : {}), ...(i === 5 ? { files: [{ name: 'notes.txt', url: '/user/files/notes.txt' }] } : {}), ...(i === 2 ? { media: [{ type: 'image', url: '/user/images/secret.png', title: mes }] } : {}) },
}));
const fence = '\n```\n';
story.push({
    name: '\u0645\u062d\u0645\u062f', is_user: true, send_date: '2026-03-20T10:00:00.000Z', extra: { bookmark_link: 'cp "1"' },
    mes: `\u0645\u0631\u062d\u0628\u0627${fence}if ${'x'.repeat(300)} { }${fence}| a | b |\n> quoted\n\n- one\n  - two`,
});
story.push({ name: owner, is_user: false, mes: 'long'.repeat(200), send_date: '2026-03-21T10:00:00.000Z' });
// Taller than a window, and more than a year after the first: the widest heat map.
story.push({ name: owner, is_user: false, mes: `${'filler\n\n'.repeat(100)}Maße`, send_date: '2027-03-21T10:00:00.000Z' });
put('The story of the lamp that turned all night', story);
put('cp "1"', story.slice(0, 10), { main_chat: 'The story of the lamp that turned all night' });
for (const [i, n] of [2, 4, 4, 6, 8].entries()) {
    put(`at ${n}${' of a long name'.repeat(n)} ${i}`, story.slice(0, n + 1), { main_chat: 'The story of the lamp that turned all night' });
}
for (const [file, bytes] of [['settings.json', '{}'], ['worlds/keep', ''], ['user/images/secret.png', png], [`characters/${owner}.png`, png]]) {
    fs.mkdirSync(path.dirname(path.join(user, file)), { recursive: true });
    fs.writeFileSync(path.join(user, file), bytes);
}

const site = path.join(folder, 'site');
const run = (...args) => execFileSync(stchat, ['-q', ...args], { encoding: 'utf8', env: { ...process.env, TZ: 'UTC' } });
const pages = run('export', path.join(user, 'chats'), '-o', site + path.sep, '--swipes', '--reasoning', '--with-hidden').trim().split('\n')
    .filter((file) => !/at \d of a/.test(file));
pages.push(run('stats', path.join(user, 'chats'), '-o', path.join(folder, 'stats.html')).trim());
pages.push(path.join(folder, 'tree.html'));
fs.writeFileSync(pages.at(-1), run('tree', path.join(user, 'chats'), '--format', 'html'));
assert.equal(pages.length, 5);

const browser = await openPage(findBrowser('auto'), path.join(folder, 'profile'), 'about:blank');
for (const domain of ['Page', 'Runtime', 'Log', 'Network', 'DOM']) {
    await browser.send(`${domain}.enable`);
}

/** Opens a page of its own; gives what the browser told meanwhile. */
async function open(file, { width = 1280, dark = false, script = true, media = '' } = {}) {
    await browser.send('Emulation.setDeviceMetricsOverride', { width, height: 800, deviceScaleFactor: 1, mobile: false });
    await browser.send('Emulation.setEmulatedMedia', { media, features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }] });
    await browser.send('Emulation.setScriptExecutionDisabled', { value: !script });
    browser.events.length = 0;
    await browser.send('Page.navigate', { url: pathToFileURL(file).href });
    await until(`${file} is loaded`, () => browser.events.some((e) => e.method === 'Page.loadEventFired'), { seconds: 30, pause: 10 });
}

/** Fails where the page said something or asked for anything but itself. */
function quiet(what) {
    const said = browser.events.filter((e) => ['Runtime.consoleAPICalled', 'Runtime.exceptionThrown', 'Log.entryAdded', 'Page.javascriptDialogOpening'].includes(e.method));
    assert.deepEqual(said.map((e) => JSON.stringify(e.params)), [], `${what} says something`);
    const asked = browser.events.filter((e) => e.method === 'Network.requestWillBeSent').map((e) => e.params.request.url).filter((url) => !url.startsWith('data:'));
    assert.equal(asked.length, 1, `${what} asks for ${asked.join(' ')}`);
}

const key = async (name, text = '') => {
    for (const type of ['keyDown', 'keyUp']) {
        await browser.send('Input.dispatchKeyEvent', { type, key: name, text: type === 'keyDown' ? text : '', windowsVirtualKeyCode: { Enter: 13, Escape: 27 }[name] ?? 0 });
    }
};

for (const file of pages) {
    const name = path.relative(folder, file);
    const markup = fs.readFileSync(file, 'utf8');
    for (const [, picture] of markup.matchAll(/data:image\/[a-z]+;base64,([^"]+)"/g)) {
        assert.ok(!Buffer.from(picture, 'base64').includes(secret), `${name} has the card's definition`);
    }
    for (const width of [1280, 1100, 390, 320]) {
        for (const dark of [false, true]) {
            const what = `${name}, ${width} px, ${dark ? 'dark' : 'light'}`;
            await open(file, { width, dark });
            assert.equal(await browser.evaluate(() => typeof window.pwned), 'undefined', `${what} ran what a chat says`);
            assert.ok(await browser.evaluate(() => document.scrollingElement.scrollWidth <= document.scrollingElement.clientWidth), `${what} scrolls sideways`);
            assert.ok(await browser.evaluate(() => [...document.querySelectorAll('th + th')].every((th) => {
                const range = document.createRange();
                const box = (cell) => { range.selectNodeContents(cell); return range.getBoundingClientRect(); };
                const left = box(th.previousElementSibling), right = box(th);
                return left.width === 0 || right.width === 0 || right.top >= left.bottom || right.left - left.right >= 4;
            })), `${what} runs headings together`);
            assert.ok(width < 1100 || await browser.evaluate(() => [...document.querySelectorAll('aside')].map((one) => one.getBoundingClientRect())
                .every((box, i, all) => i === 0 || box.height === 0 || box.top >= all[i - 1].bottom)), `${what}: what stands in the margin overlaps`);
            assert.ok(await browser.evaluate(() => [...document.querySelectorAll('td, th')].filter((cell) => cell.checkVisibility()).map((cell) => {
                const range = document.createRange();
                range.selectNodeContents(cell);
                return range.getBoundingClientRect();
            }).every((box) => box.left >= 0 && box.right <= document.scrollingElement.clientWidth)), `${what} cuts a cell`);
            assert.ok(await browser.evaluate(() => [...document.querySelectorAll('main > section td, main > section th')].every((cell) => cell.checkVisibility() || cell.closest('details'))),
                `${what} leaves a cell out`);
            assert.ok(await browser.evaluate(() => [...document.querySelectorAll('.kin tr')].map((row) => [...row.cells].map((cell) => cell.getBoundingClientRect()))
                .every(([, , messages, date]) => date.top - messages.top < 40)), `${what} has a date that stands apart`);
            assert.deepEqual(await browser.evaluate(() => [...document.querySelectorAll('.kin td, .by td')].filter((cell) => cell.cellIndex && getComputedStyle(cell).textAlign !== 'right').map((cell) => cell.className)), [],
                `${what} has numbers that do not stand at the right`);
            assert.ok(width > 390 || await browser.evaluate(() => [...document.querySelectorAll('.kin tr, .by tr')].map((row) => [...row.cells].map((cell) => cell.getBoundingClientRect()))
                .every(([name, ...numbers]) => numbers.every((one) => one.width === 0 || one.top >= name.bottom - 1))), `${what} has numbers beside a name`);
            assert.ok(width < 390 || await browser.evaluate(() => {
                const letters = [...document.querySelectorAll('.heat text')].filter((one) => one.textContent), boxes = letters.map((one) => one.getBoundingClientRect());
                const cells = [...document.querySelectorAll('.heat rect')].map((one) => one.getBoundingClientRect());
                return letters.every((one) => parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a >= 9.5)
                    && boxes.every((a, i) => [...boxes.slice(i + 1), ...cells].every((b) => a.right < b.left || b.right < a.left || Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) < a.height / 2));
            }), `${what}: the letters of the heat map cannot be read`);
            assert.ok(await browser.evaluate(() => [...document.querySelectorAll('#bar nav a')].map((one) => one.textContent).every((one, i, all) => all.indexOf(one) === i)),
                `${what} names a place twice in its bar`);
            assert.ok(await browser.evaluate(() => [...document.querySelectorAll('#bar input')].every((one) =>
                getComputedStyle(one, '::placeholder').color === getComputedStyle(document.querySelector('.sub, .quiet')).color)), `${what}: what the box is for cannot be read`);
            assert.ok(await browser.evaluate(() => (document.querySelector('#bar[role]')?.getBoundingClientRect().height ?? 0) < innerHeight / 9), `${what}: the bar takes too much`);
            assert.deepEqual(await browser.evaluate(() => [...document.querySelectorAll('#lanes .meta')].map((one) => one.textContent).filter((one) => one.endsWith('…'))), [],
                `${what} cuts a date`);
            quiet(what);
            await browser.evaluate(`() => { ${axe}; }`);
            const found = await browser.evaluate(async () => (await globalThis.axe.run(document, { resultTypes: ['violations'] })).violations
                .map((v) => `${v.id}: ${v.help}: ${v.nodes[0].html}`));
            assert.deepEqual(found, [], what);
        }
    }
    // A handler that was not escaped: the policy stops it.
    const copy = path.join(folder, 'unescaped.html');
    fs.writeFileSync(copy, markup.replace(/<body[^>]*>/, '$&<img src="x" onerror="window.pwned=1">'));
    await open(copy);
    assert.equal(await browser.evaluate(() => typeof window.pwned), 'undefined', `the policy of ${name}`);
    assert.ok(browser.events.some((e) => e.method === 'Log.entryAdded' && /Content Security Policy/.test(e.params.entry.text)), `the policy of ${name}`);
    // Each link leads to a page of these, and to a message in it.
    for (const [, href] of markup.replace(/<script.*?<\/script>/gs, '').matchAll(/ href="([^"#]*#?[^"]*)"/g)) {
        const to = new URL(href.replaceAll('&amp;', '&'), pathToFileURL(file));
        assert.equal(to.protocol, 'file:', `${name} leads to ${href}`);
        const target = fs.readFileSync(decodeURIComponent(to.pathname), 'utf8');
        assert.ok(!to.hash || target.includes(`id="${to.hash.slice(1)}"`), `${name} leads to ${href}, which is not there`);
    }
    // Without script all is there to read.
    await open(file, { script: false });
    const { root } = await browser.send('DOM.getDocument');
    const { outerHTML } = await browser.send('DOM.getOuterHTML', { nodeId: root.nodeId });
    assert.ok(/word8|The story of the lamp that turned all night|owner/.test(outerHTML), `${name} without script`);
    // Printed: on white, all of it, and no bar.
    await open(file, { dark: true, media: 'print' });
    assert.deepEqual(await browser.evaluate(() => {
        const white = (one) => getComputedStyle(one).backgroundColor === 'rgb(255, 255, 255)';
        const seen = (which) => [...document.querySelectorAll(which)].filter((one) => one.checkVisibility());
        return {
            paper: white(document.body) && getComputedStyle(document.body).color === 'rgb(0, 0, 0)',
            controls: seen('input, summary, .find, .buttons, #bar:not(:has(h1))').length,
            late: seen('article, #rows li').filter((one) => getComputedStyle(one).contentVisibility !== 'visible').length,
            cut: seen('pre').filter((one) => one.scrollWidth > one.clientWidth).length,
            pale: seen('.av, .u .t').filter((one) => getComputedStyle(one).printColorAdjust !== 'exact').length,
            parted: seen('main :is(h1, h2, h4, h5, h6), tr, article header, #rows li').filter((one) => getComputedStyle(one).breakInside !== 'avoid').length,
            alone: seen('main :is(h1, h2, h4, h5, h6), h2 + p, thead, article header, #rows li:has(.owner)').filter((one) => getComputedStyle(one).breakAfter !== 'avoid').length,
            list: seen('#rows li, article, td').length > 0,
        };
    }), { paper: true, controls: 0, late: 0, cut: 0, pale: 0, parted: 0, alone: 0, list: true }, `${name} printed`);
    for (let paperHeight = 7; paperHeight < 12; paperHeight += 0.2) {
        const pdf = Buffer.from((await browser.send('Page.printToPDF', { paperHeight })).data, 'base64').toString('latin1');
        const sheets = [...pdf.matchAll(/\/Type \/Page\n[^]*?\/Contents (\d+) 0 R/g)].map(([, n]) => {
            const start = pdf.indexOf('stream\n', pdf.indexOf(`\n${n} 0 obj\n`)) + 7;
            return zlib.inflateSync(Buffer.from(pdf.slice(start, pdf.indexOf('endstream', start)), 'latin1'), { finishFlush: zlib.constants.Z_SYNC_FLUSH }).includes(' Tj');
        });
        assert.ok(sheets.length > 0 && sheets.every(Boolean), `${name} printed has an empty sheet at ${paperHeight} in: ${sheets}`);
    }
    console.log(`pages: ${name}`);
}

// The search by keys alone.
await open(pages.find((file) => file.endsWith('The story of the lamp that turned all night.html')));
await key('/', '/');
await browser.send('Input.insertText', { text: 'WORD3' });
await key('Enter', '\r');
assert.equal(await browser.evaluate(() => document.querySelector('#bar output').textContent), '1/1');
assert.equal(await browser.evaluate(() => document.querySelectorAll('article.hit').length), 1);
await key('Escape');
await key('/', '/');
await browser.send('Input.insertText', { text: 'word' });
for (const at of ['1/9', '2/9', '3/9']) {
    await key('Enter', '\r');
    assert.equal(await browser.evaluate(() => document.querySelector('#bar output').textContent), at);
}
assert.deepEqual(await browser.evaluate(() => [...document.querySelectorAll('.at')].map((one) => one.id)), ['m2'], 'one cannot see which is the third');
await key('Escape');
assert.equal(await browser.evaluate(() => document.querySelectorAll('article.hit').length), 0);
quiet('the search');
// To the paragraph, where the message is taller than the window.
await key('/', '/');
await browser.send('Input.insertText', { text: 'MASSE' });
await key('Enter', '\r');
assert.ok(await browser.evaluate(() => {
    const found = [...document.querySelectorAll('p')].find((one) => one.textContent === 'Maße').getBoundingClientRect();
    return found.top > 0 && found.bottom < innerHeight;
}), 'what is found is out of sight');

// On a phone: the bar hides no message that is jumped to, its number stays beside its time, and what is found is seen.
await open(pages.find((file) => file.endsWith('The story of the lamp that turned all night.html')), { width: 320, dark: true });
const head = () => browser.evaluate(() => {
    const message = document.querySelector('article:target') ?? document.querySelector('article.hit');
    const [bar, top, number, time] = [document.getElementById('bar'), ...['header', 'header a', 'header time'].map((one) => message.querySelector(one))]
        .map((one) => one.getBoundingClientRect());
    return { seen: top.top >= bar.bottom, beside: Math.abs(number.top - time.top) < 4 && number.left > top.left };
});
await browser.evaluate(() => { location.hash = '#m6'; });
await until('the message is seen', async () => (await head()).seen, { seconds: 5, pause: 10 });
await key('/', '/');
await browser.send('Input.insertText', { text: 'WORD5' });
await key('Enter', '\r');
assert.ok((await head()).beside, 'the number and the time of a hit are apart');
await browser.evaluate(`() => { ${axe}; }`);
const contrast = await browser.evaluate(async () => (await globalThis.axe.run('article.hit', { runOnly: ['color-contrast'] })).violations.flatMap((v) => v.nodes.map((n) => n.html)));
assert.deepEqual(contrast, [], 'what is found cannot be read');
// Back through it by keys: the bar hides nothing that has the focus.
await browser.evaluate(() => document.querySelector('article:last-of-type a').focus());
for (let i = 0; i < 20; i++) {
    for (const type of ['keyDown', 'keyUp']) {
        await browser.send('Input.dispatchKeyEvent', { type, key: 'Tab', windowsVirtualKeyCode: 9, modifiers: 8 });
    }
    await browser.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
    assert.ok(await browser.evaluate(() => {
        const bar = document.getElementById('bar'), one = document.activeElement;
        return bar.contains(one) || one.getBoundingClientRect().top >= bar.getBoundingClientRect().bottom;
    }), 'the bar hides what has the focus');
}
await browser.close();
