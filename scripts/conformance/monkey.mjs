// SillyTavern's page and stchat take turns at random on the same chats, a character's and a group's. After each step both
// have to see the same: see docs/conformance.md.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { same } from './expect.mjs';
import { fileOf, ours, theirs } from './monkey-deeds.mjs';
import { needsPage, open, state } from './tab.mjs';
import { changesBetween, snapshot } from './watch.mjs';

/** More chats than this of one owner, and the next deed that makes one gives way to one that deletes one. */
const most = 8;

/** Dice that fall the same for the same seed (mulberry32). */
function diceOf(seed) {
    let a = seed >>> 0;
    const next = () => {
        a = (a + 0x6D2B79F5) | 0;
        let x = Math.imul(a ^ (a >>> 15), 1 | a);
        x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
        return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
    };
    const below = (n) => Math.floor(next() * n);
    return {
        below,
        pick: (list) => list[below(list.length)],
        /** These words, or none. */
        maybe: (...words) => below(2) ? words : [],
    };
}

/** A run of the monkey: so many steps, each with its own dice, so that a step falls the same whatever came of the others. */
export function monkey(steps, seed, note) {
    return {
        id: 'monkey',
        title: `page and stchat at random, ${steps} steps, seed ${seed}`,
        skip: needsPage,
        prepare(t) {
            return [t.data.solo('monkey'), t.data.group('Monkey')];
        },
        async run(t, sources) {
            const m = new Monkey(t, sources);
            await m.start();
            for (let step = 1; step <= steps; step++) {
                m.step = step;
                m.dice = diceOf(seed * 100_003 + step);
                try {
                    await m.turn();
                } catch (error) {
                    const why = String(error.stack ?? error);
                    note(`${why}\nagain: scripts/conformance/run --monkey ${step} --seed ${seed} --versions ${t.version}`);
                    throw new Error(`step ${step}, ${m.deed ?? 'nothing done'}: ${error.message}`);
                }
                note(`step ${step}: ${m.deed}`);
            }
            m.allVersions();
        },
    };
}

class Monkey {
    constructor(t, sources) {
        Object.assign(this, { t, sources, versions: [], seen: new Map(), rules: new Map() });
    }

    /** Takes stock of what is there before the first step. */
    async start() {
        await this.t.page.evaluate(() => {
            globalThis.monkeyErrors = [];
            const told = console.error;
            console.error = (...what) => {
                globalThis.monkeyErrors.push(what.map((w) => w?.stack ?? String(w)).join(' ').slice(0, 300));
                told(...what);
            };
            addEventListener('error', (e) => globalThis.monkeyErrors.push(String(e.message)));
            addEventListener('unhandledrejection', (e) => globalThis.monkeyErrors.push(String(e.reason?.stack ?? e.reason)));
        });
        await this.settle();
        this.logged = this.log().length; // what it says of starting
        this.keep();
        this.judge(null);
    }

    /** Runs stchat; gives its exit code and what it wrote. */
    stchat(...args) {
        const done = spawnSync(this.t.program, args, { input: '', maxBuffer: 1 << 26 });
        if (done.error) {
            throw done.error;
        }
        return { code: done.status, out: done.stdout, err: String(done.stderr).trim() };
    }

    /** Runs stchat, which has to succeed and complain of nothing; gives the documents that it prints. */
    documents(...args) {
        const { code, out, err } = this.stchat(...args);
        assert.equal(code, 0, `stchat ${args.join(' ')} exits ${code}: ${err}`);
        return String(out).split('\n').filter(Boolean).map((line) => JSON.parse(line));
    }

    /** All that lies in the folders that both write to. */
    look() {
        return snapshot(['chats', 'group chats', 'groups', 'characters', 'worlds'].map((name) => path.join(this.t.data.root, name)));
    }

    /** The names of an owner's chats, sorted. */
    chats(source) {
        const found = source.id
            ? JSON.parse(fs.readFileSync(source.groupFile, 'utf8')).chats
            : fs.readdirSync(source.folder).filter((f) => f.endsWith('.jsonl')).map((f) => path.basename(f, '.jsonl'));
        return [...found].sort();
    }

    /** One step: a deed of the page's or of ours, and everything that has to hold after it. */
    async turn() {
        this.deed = null;
        while (!this.deed) {
            const source = this.dice.pick(this.sources);
            const here = this.chats(source);
            const name = this.dice.pick(here);
            const side = this.dice.pick([theirs, ours]);
            const verb = this.dice.pick(Object.keys(side));
            if (here.length >= most && side[verb].grows || here.length < 3 && side[verb].shrinks) {
                continue;
            }
            const at = { t: this.t, source, here, name, file: fileOf(source, name), dice: this.dice, step: this.step, versions: this.versions };
            const did = side === ours ? this.ourDeed(side[verb], at) : await this.theirDeed(side[verb], at, `${verb} in ${name}`);
            if (did) {
                this.deed = side === ours ? `stchat ${did}` : `the page: ${verb} ${did}, in ${name}`;
                // A copy has the faults of what it copies.
                this.may = [...side[verb].may ?? [], ...(side[verb].grows ? this.rules.keys() : [])];
            }
        }
        this.judge(this.may);
        this.keep();
        for (const source of this.sources) {
            for (const name of this.chats(source)) {
                await this.agree(source, name);
            }
        }
        await this.leave();
        // The page writes what it fills in on opening; that is not laid to the next deed.
        this.keep();
        this.judge([...this.may, 'integrity-missing', 'unlisted-branch']);
        this.anyVersion();
        await this.heard();
    }

    async theirDeed(deed, at, what) {
        this.doing = what;
        const did = await deed.do(at);
        await this.leave();
        return did;
    }

    ourDeed(deed, at) {
        const before = this.look();
        const file = at.file;
        const count = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).length - 1 : 0;
        const args = fs.existsSync(file) ? deed.args({ ...at, count }) : null;
        if (!args) {
            return null;
        }
        const call = args.map((a) => path.basename(a)).join(' ');
        const { code, err } = this.stchat(...args, '-q');
        const after = this.look();
        const changed = changesBetween(before, after);
        if (code !== 0) {
            none(changed, `what ${call} changes although it fails`);
            assert.equal(code, 2, `${call} exits ${code}: ${err}`);
            assert.match(err, refusals, `${call} is refused: ${err}`);
            return null;
        }
        assert.equal(err, '', `what ${call} says`);
        if (changed.length) {
            const [undone] = this.documents('undo', '--json', '-q', '--data', this.t.data.root);
            none(changesBetween(before, this.look()), `what undo of ${call} leaves changed`);
            this.documents('undo', undone.redo, '--json', '-q', '--data', this.t.data.root);
            none(changesBetween(after, this.look()), `what is not again as ${call} left it, after undo and redo`);
        }
        return `${call}${changed.length ? '' : ' (changes nothing)'}`;
    }

    /** Closes what the page has open, and waits until it and the server have written all they will. */
    async leave() {
        const { popups } = await state(this.t);
        none(popups, 'popups of the page');
        await this.t.page.evaluate(async () => {
            await (await import('/script.js')).closeCurrentChat();
        });
        await this.settle();
    }

    async settle() {
        for (let last = this.look(), calm = 0; calm < 2;) {
            await new Promise((resolve) => setTimeout(resolve, 150));
            const now = this.look();
            calm = changesBetween(last, now).length ? 0 : calm + 1;
            last = now;
        }
    }

    /** Fails where check finds more of a rule than before, unless the last deed may have that effect. */
    judge(may) {
        const { code, out, err } = this.stchat('check', '--format', 'json', this.t.data.root);
        const found = String(out).split('\n').filter(Boolean).map((line) => JSON.parse(line)).filter((d) => d.rule);
        assert.ok(code === 0 || code === 1, `check exits ${code}: ${err}`);
        const now = new Map();
        found.forEach((d) => now.set(d.rule, [...(now.get(d.rule) ?? []), d]));
        for (const [rule, list] of now) {
            if (may && list.length > (this.rules.get(rule)?.length ?? 0)) {
                const what = list.map((d) => `${d.path}: ${d.message}`).join(' / ');
                assert.ok(may.includes(rule), `check finds ${rule}: ${what}`);
            }
        }
        this.rules = now;
    }

    /** Keeps a version of everything in the history, and its bytes here. */
    keep() {
        for (const { rev, path: file } of this.documents('snapshot', this.t.data.root, '--json', '-q')) {
            if (rev) {
                const full = path.resolve(this.t.data.root, file);
                this.versions.push({ rev, file: full, bytes: fs.readFileSync(full) });
            }
        }
    }

    /** Fails unless a version comes back to the byte. */
    comesBack({ rev, file, bytes }) {
        const { code, out, err } = this.stchat('restore', file, '--rev', String(rev), '-o', '-');
        assert.equal(code, 0, `restore --rev ${rev} of ${path.basename(file)} exits ${code}: ${err}`);
        assert.ok(out.equals(bytes), `version ${rev} of ${path.basename(file)} does not come back to the byte`);
    }

    anyVersion() {
        this.comesBack(this.dice.pick(this.versions));
    }

    allVersions() {
        this.versions.forEach((version) => this.comesBack(version));
    }

    /** Fails unless the page opens a chat as stchat reads it. One that is as it was when last seen is passed over. */
    async agree(source, name) {
        const { t } = this;
        const file = fileOf(source, name);
        const bytes = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
        if (this.seen.get(file) === bytes) {
            return;
        }
        const page = await open(t, source, name);
        assert.equal(page.name, name, 'the chat that the page opens');
        await this.settle();
        const told = this.documents('message', 'get', file, '--swipes', '--json', '-q');
        assert.equal(told.length, page.messages.length, `the number of messages of ${name}`);
        for (const [i, doc] of told.entries()) {
            same(asTold(doc), inPage(page.messages[i], doc), `message ${i} of ${name}`);
        }
        const row = this.documents('tree', source.folder, '--json', '--all').find((r) => path.resolve(r.path) === file);
        const here = this.chats(source);
        const parent = page.meta.main_chat;
        if (parent && !row.cycle && parent !== name) {
            assert.equal(here.includes(parent) ? row.parent : row.dangling, parent, `the parent of ${name}`);
        }
        await this.follow(source, name, told, here.includes(parent) ? parent : null);
        this.seen.set(file, fs.readFileSync(file, 'utf8'));
    }

    /** Fails unless a checkpoint's flag, if there is one, and "back to parent" lead where they say. */
    async follow(source, name, told, parent) {
        const go = (command) => this.t.page.evaluate(async (command) => {
            await SillyTavern.getContext().executeSlashCommandsWithOptions(command);
        }, command);
        const flags = told.filter((doc) => this.chats(source).includes(doc.checkpoint) && doc.checkpoint !== name);
        const flag = this.dice.pick(flags);
        if (flag) {
            await go(`/checkpoint-go ${flag.index}`);
            assert.equal((await state(this.t)).name, flag.checkpoint, `the chat behind the flag at ${flag.index} of ${name}`);
            await open(this.t, source, name);
        }
        if (parent && parent !== name) {
            await go('/checkpoint-exit');
            assert.equal((await state(this.t)).name, parent, `the chat behind "back to parent" of ${name}`);
        }
    }

    log() {
        return fs.readFileSync(path.join(this.t.scratch, 'server.log'), 'utf8');
    }

    /** Fails where the page's console or the server's log has an error. */
    async heard() {
        const told = await this.t.page.evaluate(() => globalThis.monkeyErrors.splice(0));
        none(told.filter((line) => !harmless.test(line)), 'errors in the page\u2019s console');
        const log = this.log();
        const fresh = log.slice(this.logged);
        this.logged = log.length;
        none(fresh.split('\n').filter((line) => /error|exception|ENOENT/i.test(line) && !harmless.test(line)), 'errors in the server\u2019s log');
    }
}

/** Fails where a list has anything, and says what. */
function none(list, what) {
    assert.equal(list.join(' / '), '', what);
}

/** What stchat may answer where a deed does not fit: nothing to do there. */
const refusals = /no swipe|swipes?\b.*\bnot|as it is|no version|version of another chat|nothing/i;

/** What is logged as an error and is none of a chat's. */
const harmless = /ERR_NAME_NOT_RESOLVED|Failed to fetch|translat|extension/i;

const asTold = (doc) => ({
    name: doc.name, text: doc.text, hidden: Boolean(doc.message.is_system), swipe: doc.swipe, swipes: doc.swipe_texts,
    checkpoint: doc.checkpoint, branches: doc.branches,
});

/** The page's message in stchat's terms. A message without swipes gets a list of its one text once the page shows it. */
function inPage(message, doc) {
    const has = doc.swipes > 0;
    if (!has && message.swipes) {
        same(message.swipes, [message.mes], 'the swipes that the page makes up');
    }
    return {
        name: message.name, text: message.mes, hidden: Boolean(message.is_system),
        swipe: has ? message.swipe_id + 1 : doc.swipe, swipes: has ? message.swipes : [],
        checkpoint: message.extra?.bookmark_link ?? null, branches: message.extra?.branches ?? [],
    };
}
