// Runs every scenario against every version of SillyTavern, and Luker's against Luker. See docs/conformance.md.
//
// For each version: a scratch user folder; the scenarios prepare their chats in it and run stchat; the server starts;
// the scenarios ask it; it is stopped. Exit 1 where something fails, 2 in trouble.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { browserVersion, findBrowser, openPage } from './browser.mjs';
import { NotHere } from './expect.mjs';
import { UserFolder } from './fixtures.mjs';
import { cacheFolder, install } from './install.mjs';
import { monkey } from './monkey.mjs';
import { markdownTable, reasons, textTable } from './report.mjs';
import { copying } from './scenarios/copying.mjs';
import { damage } from './scenarios/damage.mjs';
import { edit } from './scenarios/edit.mjs';
import { exports_ } from './scenarios/export.mjs';
import { follows } from './scenarios/following.mjs';
import { group } from './scenarios/group.mjs';
import { history } from './scenarios/history.mjs';
import { imports } from './scenarios/import.mjs';
import { kinship } from './scenarios/kinship.mjs';
import { lifecycle } from './scenarios/lifecycle.mjs';
import { lorebook } from './scenarios/lorebook.mjs';
import { luker } from './scenarios/luker.mjs';
import { making } from './scenarios/making.mjs';
import { merges } from './scenarios/merge.mjs';
import { metadata } from './scenarios/metadata.mjs';
import { page } from './scenarios/page.mjs';
import { replay } from './scenarios/replay.mjs';
import { solo } from './scenarios/solo.mjs';
import { use } from './scenarios/use.mjs';
import { startServer } from './server.mjs';
import { findStchat, watchedStchat } from './stchat.mjs';
import { ready, reload } from './tab.mjs';

const pinned = ['1.19.0', '1.16.0', '1.13.5', '1.12.14'];
const inPage = [
    ...page, ...use, ...edit, ...metadata, ...follows, ...lifecycle, ...kinship, ...making, ...copying, ...luker.filter((s) => s.skip),
];
const scenarios = [
    ...solo, ...group, ...lorebook, ...damage, ...replay, ...page, ...use, ...edit, ...metadata, ...follows, ...lifecycle, ...kinship,
    ...making, ...copying, ...history, ...imports, ...exports_, ...merges,
];

const usage = `Usage: scripts/conformance/run [flags]

Proves stchat against real SillyTavern servers, on loopback, in scratch folders.

  --versions LIST   comma-separated; default ${pinned.join(',')}
  --only LIST       scenarios by id, or by the beginning of one (page, group-, …)
  --stchat PATH     the program to test; default $STCHAT, else built from this tree
  --browser WHICH   auto (default), never, or a Chromium's path; auto looks at $CHROMIUM and PATH
  --markdown FILE   also write the table as Markdown
  --monkey STEPS    instead of the scenarios: page and stchat take turns at random, in the newest version
  --seed N          with --monkey: which turns; default 1
  --list            list the scenarios
  --keep            keep the scratch folder, and name it
  --help

SillyTavern is kept in $STCHAT_CONFORMANCE_CACHE, by default in stchat-conformance of the user's cache folder.
Luker's scenarios run where $LUKER_DIR names a checkout of Luker with its packages installed.

Exit status: 0 all held, 1 something failed, 2 trouble.
`;

const note = (text) => process.stderr.write(`conformance: ${text}\n`);

function atLeast(version, least) {
    const [a, b] = [version, least].map((v) => v.split('.').map(Number));
    for (let i = 0; i < 3; i++) {
        if (a[i] !== b[i]) {
            return a[i] > b[i];
        }
    }
    return true;
}

/**
 * Runs the scenarios against one version; gives id -> {outcome, why}.
 * @param {{version: string, app: () => string, compiled: string|null, chosen: object[]}} run app gives the folder of
 *     server.js; compiled: see startServer
 */
async function conform({ version, app, compiled, chosen }, { program, browser, scratch }) {
    const results = new Map();
    const dataRoot = path.join(scratch, 'data');
    const userRoot = path.join(dataRoot, 'default-user');
    fs.mkdirSync(userRoot, { recursive: true });
    const t = {
        version,
        legacy: !atLeast(version, '1.15.0'),
        atLeast: (least) => atLeast(version, least),
        data: new UserFolder(userRoot),
        scratch,
        program,
        replica: path.join(scratch, 'replica'),
        browser,
    };
    // A server and its page write into other folders of the user's as they please.
    const inUse = ['chats', 'group chats', 'groups', 'characters', 'worlds'].map((name) => path.join(userRoot, name));
    Object.assign(t, watchedStchat(program, () => [...(t.server ? inUse : [userRoot]), t.replica]));
    const fail = (scenario, error) => {
        if (error instanceof NotHere) {
            results.set(scenario.id, { outcome: 'n/a', why: error.message });
            return;
        }
        const why = String(error.message).split('\n')[0];
        results.set(scenario.id, { outcome: 'FAIL', why });
        note(`${version}: ${scenario.id}: ${why}`);
    };

    const prepared = new Map();
    for (const scenario of chosen) {
        const skip = scenario.skip?.(t);
        if (skip) {
            results.set(scenario.id, { outcome: 'n/a', why: skip });
            continue;
        }
        try {
            prepared.set(scenario, scenario.prepare(t));
        } catch (error) {
            fail(scenario, error);
        }
    }

    const folder = app();
    note(`${version}: starting the server`);
    t.server = await startServer(folder, dataRoot, path.join(scratch, 'server.log'), compiled);
    try {
        if (t.server.version !== version) {
            throw new Error(`the server says it is ${t.server.version}, not ${version}`);
        }
        if (browser && [...prepared.keys()].some((s) => inPage.includes(s) || s.id === 'monkey')) {
            // The first-run dialogue would stand in the way.
            const settingsFile = path.join(userRoot, 'settings.json');
            const settings = JSON.parse(fs.readFileSync(settingsFile, 'utf8'));
            fs.writeFileSync(settingsFile, JSON.stringify({ ...settings, firstRun: false }, null, 4));
            t.page = await openPage(browser, path.join(scratch, 'profile'), t.server.url);
            await ready(t.page);
        }
        for (const [scenario, state] of prepared) {
            try {
                await scenario.run(t, state);
                results.set(scenario.id, { outcome: 'ok' });
            } catch (error) {
                fail(scenario, error);
                // What it left open, such as a popup, is nothing to the next one.
                await (t.page && reload(t));
            }
        }
    } finally {
        await t.page?.close();
        await t.server.stop();
    }
    return results;
}

async function main() {
    const { values: flags } = parseArgs({
        options: {
            versions: { type: 'string' },
            only: { type: 'string' },
            stchat: { type: 'string' },
            browser: { type: 'string', default: 'auto' },
            markdown: { type: 'string' },
            monkey: { type: 'string' },
            seed: { type: 'string', default: '1' },
            list: { type: 'boolean' },
            keep: { type: 'boolean' },
            help: { type: 'boolean' },
        },
    });
    if (flags.help) {
        process.stdout.write(usage);
        return 0;
    }
    if (flags.list) {
        process.stdout.write([...scenarios, ...luker].map((s) => `${s.id.padEnd(24)}${s.title}\n`).join(''));
        return 0;
    }
    const only = flags.only?.split(',');
    const [steps, seed] = [flags.monkey ?? '1', flags.seed].map(Number);
    if (!(Number.isInteger(steps) && steps > 0 && Number.isInteger(seed))) {
        throw new Error('--monkey and --seed take whole numbers');
    }
    const picked = (list) => list.filter((s) => !only || only.some((o) => s.id.startsWith(o)));
    const versions = flags.versions?.split(',') ?? (flags.monkey ? pinned.slice(0, 1) : pinned);
    const chosen = flags.monkey ? [monkey(steps, seed, note)] : picked(scenarios);
    const tables = [versions.map((version) => ({ version, app: () => install(version, note), compiled: path.join(cacheFolder(), version, 'webpack'), chosen }))];
    if (!flags.monkey) {
        tables.push(lukerRuns(picked(luker)));
    }
    const wanted = tables.map((runs) => runs.filter((run) => run.chosen.length)).filter((runs) => runs.length);
    if (!wanted.length) {
        throw new Error(`no scenario is called ${flags.only}; --list lists them`);
    }
    const browser = findBrowser(flags.browser);
    const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'stchat-conformance-'));
    process.once('exit', () => {
        if (flags.keep) {
            note(`kept ${scratch}`);
        } else {
            // An ending browser may still be writing into its profile.
            fs.rmSync(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
        }
    });
    const program = findStchat(flags.stchat, scratch);
    let failed = 0;
    const markdown = [];
    for (const runs of wanted) {
        const rows = runs[0].chosen.map((s) => ({ id: s.id, title: s.title, results: new Map() }));
        for (const run of runs) {
            const folder = path.join(scratch, run.version);
            fs.mkdirSync(folder);
            const results = await conform(run, { program, browser, scratch: folder });
            for (const row of rows) {
                row.results.set(run.version, results.get(row.id));
            }
        }
        const columns = runs.map((run) => run.version);
        process.stdout.write(`${textTable(columns, rows)}\n`);
        const wrong = reasons(columns, rows, (outcome) => outcome === 'FAIL');
        if (wrong.length) {
            process.stdout.write(`\n${wrong.join('\n')}\n`);
        }
        failed += wrong.length;
        markdown.push(markdownTable(columns, rows));
    }
    if (flags.markdown) {
        const by = `node ${process.versions.node}, ${browser ? browserVersion(browser) : 'no Chromium'}`;
        const caption = `Last run: ${new Date().toISOString().slice(0, 10)}, ${os.platform()}/${os.arch()}, ${by}.`;
        fs.writeFileSync(flags.markdown, `${[caption, ...markdown].join('\n\n')}\n`);
    }
    return failed ? 1 : 0;
}

/** The run of Luker's scenarios, in a list; an empty one, said so, where there is no checkout of it. */
function lukerRuns(chosen) {
    const folder = process.env.LUKER_DIR;
    if (!folder) {
        note('Luker is left out: LUKER_DIR names no checkout of it');
        return [];
    }
    for (const name of ['server.js', 'package.json', 'node_modules']) {
        if (!fs.existsSync(path.join(folder, name))) {
            throw new Error(`LUKER_DIR: there is no ${name} in ${folder}`);
        }
    }
    const { version } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
    return [{ version, app: () => path.resolve(folder), compiled: null, chosen }];
}

// An interrupted run still stops its server and browser and removes its scratch folder: all hang on "exit".
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => process.exit(2));
}
main().then((code) => {
    process.exitCode = code;
}, (error) => {
    process.stderr.write(`conformance: ${error.message}\n`);
    process.exitCode = 2;
});
