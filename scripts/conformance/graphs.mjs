// tree --format mermaid and dot, read by mermaid (npm, in headless Chromium) and by Graphviz (dot on PATH).
//
// The chats' names are hostile. Mermaid draws them with its security switched off, so that anything it took for more than
// text would become an element or run; every label has to come back as the text it was.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { findBrowser, openPage } from './browser.mjs';
import { cacheFolder } from './install.mjs';
import { findStchat } from './stchat.mjs';

const versions = ['11.17.2', '12.3.0'];

/** Names that a file can have, on Linux at least. */
const names = [
    'plain', '"]; click n0 "javascript:alert(1)"', '<img src=x onerror="window.pwned=1">', '<script>window.pwned=1', '`${1}`', '%%{init: {"theme":"dark"}}%%',
    '__proto__', 'constructor', 'back\\slash\\n\\N', '&lt;&amp; &#35;', 'end', 'n0', '--> |x|', "it's", '日本語 😀 e\u0301', 'subgraph x', '#quot; #35;', '**bold** _it_ [x](y:z)', '1. list', '- list', '# head',
];

const note = (text) => process.stdout.write(`graphs: ${text}\n`);

/** A character's folder in which each name is a branch of the one before it, or of the first. */
function plant(root) {
    const folder = path.join(root, 'chats', 'Mira');
    fs.mkdirSync(folder, { recursive: true });
    const say = (i) => ({ name: 'Mira', is_user: false, send_date: `2026-01-02T03:0${i}:00.000Z`, mes: `line ${i}` });
    names.forEach((name, i) => {
        const meta = { integrity: `i${i}`, ...(i ? { main_chat: names[i % 2 ? 0 : i - 1] } : {}) };
        const head = { chat_metadata: meta, user_name: 'unused', character_name: 'unused' };
        fs.writeFileSync(path.join(folder, `${name}.jsonl`), [head, say(0), say(1)].map((o) => JSON.stringify(o)).join('\n'));
    });
    return folder;
}

/** The folder of one version of mermaid, installed first where it is not there yet. */
function mermaid(version) {
    const home = path.join(cacheFolder(), `mermaid-${version}`);
    const file = path.join(home, 'node_modules', 'mermaid', 'dist', 'mermaid.min.js');
    if (!fs.existsSync(file)) {
        fs.mkdirSync(home, { recursive: true });
        fs.writeFileSync(path.join(home, 'package.json'), '{"private":true}\n');
        const done = spawnSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', `mermaid@${version}`], { cwd: home, encoding: 'utf8' });
        assert.equal(done.status, 0, `npm: ${done.stderr}`);
    }
    return file;
}

/** Draws the graph in the browser; gives its labels, and whatever became of them that is no text. */
async function drawn(browser, script, text, scratch) {
    const html = path.join(scratch, 'page.html');
    fs.writeFileSync(html, `<!doctype html><meta charset="utf-8"><title>quiet</title><script src="${pathToFileURL(script)}"></script>`);
    const page = await openPage(browser, path.join(scratch, 'profile'), pathToFileURL(html).href);
    try {
        for (let i = 0; i < 100 && !await page.evaluate(() => Boolean(globalThis.mermaid)).catch(() => false); i++) {
            await new Promise((resolve) => setTimeout(resolve, 100));
        }
        return await page.evaluate(async (text) => {
            mermaid.initialize({ startOnLoad: false, securityLevel: 'loose' });
            await mermaid.parse(text);
            const { svg } = await mermaid.render('graph', text);
            document.body.innerHTML = svg;
            await new Promise((resolve) => setTimeout(resolve, 300));
            return {
                labels: [...document.querySelectorAll('.node .nodeLabel')].map((e) => e.textContent),
                strange: [...document.body.querySelectorAll('a, img, script, iframe, .node .nodeLabel strong, .node .nodeLabel em')].map((e) => e.outerHTML),
                pwned: globalThis.pwned === 1, title: document.title,
            };
        }, text);
    } finally {
        await page.close();
    }
}

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'stchat-graphs-'));
process.once('exit', () => fs.rmSync(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
const program = findStchat(process.argv[2], scratch);
const folder = plant(path.join(scratch, 'me'));

function tree(format) {
    const done = spawnSync(program, ['tree', '--format', format, '-q', folder], { encoding: 'utf8' });
    assert.equal(done.status, 0, done.stderr);
    return done.stdout;
}

const dot = spawnSync('dot', ['-Tsvg'], { input: tree('dot'), encoding: 'utf8' });
if (dot.error) {
    note('dot: skipped: Graphviz is not installed');
} else {
    assert.equal(dot.status, 0, dot.stderr);
    assert.equal(dot.stderr, '', 'what dot complains of');
    assert.equal(dot.stdout.match(/<g id="node/g).length, names.length, 'nodes that dot draws');
    assert.ok(!/<a |javascript:alert\(1\)"/.test(dot.stdout), 'dot makes a link of text');
    note(`dot: ${names.length} nodes drawn`);
}

const browser = findBrowser('auto');
if (!browser) {
    note('mermaid: skipped: there is no Chromium');
} else {
    for (const version of versions) {
        const { labels, strange, pwned, title } = await drawn(browser, mermaid(version), tree('mermaid'), fs.mkdtempSync(path.join(scratch, 'm-')));
        assert.deepEqual(strange, [], 'what became of text');
        assert.ok(!pwned && title === 'quiet', 'a label ran');
        const said = labels.map((l) => l.replace(/ - \d+ messages?(, \d+ its own)?( - .*)?$/, ''));
        assert.deepEqual(said.sort(), [...names].sort(), `labels that mermaid ${version} gives back`);
        note(`mermaid ${version}: ${labels.length} labels come back as they were`);
    }
}
