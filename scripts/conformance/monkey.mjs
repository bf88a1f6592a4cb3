// SillyTavern's page and stchat take turns at random on the same chats, of two characters and of a group. After each step
// both have to see the same: see docs/conformance.md.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { same, status } from './expect.mjs';
import { fileOf, taken } from './monkey-names.mjs';
import { ours } from './monkey-ours.mjs';
import { theirs } from './monkey-page.mjs';
import { runProgram, verbOf } from './stchat.mjs';
import { needsPage, open, state } from './tab.mjs';
import { changesBetween, snapshot } from './watch.mjs';

/** More chats than this of one owner, and the next deed that makes one gives way to one that deletes one. */
const most = 8;

/** Where both write. */
const folders = ['chats', 'group chats', 'groups', 'characters', 'worlds', 'user/images'];

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
            const book = t.data.lorebook('Harbour').name;
            return [t.data.solo('monkey', { meta: { world_info: book } }), t.data.solo('donkey'), t.data.group('Monkey')];
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
            note([...m.done].sort().map(([verb, times]) => `${verb} ${times}`).join(', '));
        },
    };
}

class Monkey {
    constructor(t, sources) {
        Object.assign(this, { t, sources, versions: [], seen: new Map(), rules: new Map(), done: new Map() });
        t.run = (...args) => this.stchat(...args);
    }

    /** Takes stock of what is there before the first step. */
    async start() {
        await this.t.page.evaluate(() => {
            globalThis.monkeyErrors = [];
            // What moves on the screen takes most of the time and proves nothing.
            document.head.append(Object.assign(document.createElement('style'), {
                textContent: '*, *::before, *::after { animation: none !important; transition: none !important; filter: none !important; backdrop-filter: none !important }',
            }));
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
        const done = runProgram(this.t.program, args, { input: '', maxBuffer: 1 << 26 });
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
        return snapshot(folders.map((name) => path.join(this.t.data.root, name)));
    }

    /** The names of an owner's chats, sorted. */
    chats(source) {
        const files = (folder) => fs.existsSync(folder) ? fs.readdirSync(folder) : [];
        const found = source.id
            ? JSON.parse(fs.readFileSync(source.groupFile, 'utf8')).chats
            : files(source.folder).filter((f) => f.endsWith('.jsonl')).map((f) => path.basename(f, '.jsonl'));
        return [...found].sort();
    }

    /** The names of an owner's chats that have a file. A group's gets one when it is first opened. */
    present(source) {
        return this.chats(source).filter((name) => fs.existsSync(fileOf(source, name)));
    }

    /** One step: a deed of the page's, or up to three of ours, and everything that has to hold after it. */
    async turn() {
        this.deed = null;
        this.may = [];
        const told = [];
        if (this.dice.below(2)) {
            told.push(await this.until((verb, at) => this.theirDeed(verb, at), theirs));
        } else {
            const steps = [];
            for (let left = 1 + this.dice.below(3); left; left--) {
                steps.push(await this.until((verb, at) => this.ourDeed(verb, at), ours));
                told.push(`stchat ${steps.at(-1).call}`);
                this.deed = told.join('; ');
            }
            this.backAndForth(steps.filter(({ changed }) => changed));
        }
        this.deed = told.join('; ');
        const done = this.look();
        this.judge(this.may);
        this.keep();
        await this.listed();
        const shown = [];
        for (const source of this.sources) {
            for (const name of this.chats(source)) {
                shown.push(await this.show(source, name, shown.findLast(Boolean)?.source));
            }
        }
        if (shown.some(Boolean)) {
            await this.leave();
            shown.filter(Boolean).forEach((chat) => this.agree(chat));
        }
        if (changesBetween(done, this.look()).length) { // the page writes what it fills in on opening; that is not laid to the next deed
            this.keep();
            this.judge([...this.may, 'integrity-missing', 'unlisted-branch']);
        }
        this.anyVersion();
        await this.heard();
    }

    /** Tries deeds of one side until one is done. */
    async until(attempt, side) {
        for (let tries = 0; tries < 500; tries++) {
            const source = this.dice.pick(this.sources);
            const here = this.chats(source);
            const verb = here.length ? this.dice.pick(Object.keys(side)) : 'new';
            const deed = side[verb];
            if (here.length >= most && deed.grows || here.length < 3 && deed.shrinks) {
                continue;
            }
            const name = this.dice.pick(here) ?? 'none';
            const did = await attempt(deed, this.at(source, here, name, verb));
            if (did) {
                this.done.set(verb, 1 + (this.done.get(verb) ?? 0));
                // A copy has the faults of what it copies.
                this.may.push(...deed.may ?? [], ...(deed.grows ? this.rules.keys() : []));
                deed.recalls && this.pruned && this.may.push('group-unlisted'); // which group listed a chat may be forgotten
                return did;
            }
        }
        throw new Error('no deed can be done');
    }

    /** What a deed is told. */
    at(source, here, name, verb) {
        const { t, dice, step, versions, sources } = this;
        const file = fileOf(source, name);
        const lines = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)) : [];
        return { t, dice, step, versions, sources, source, here, name, verb, file, messages: lines.slice(1), meta: lines[0]?.chat_metadata ?? {}, chats: (s) => this.chats(s) };
    }

    async theirDeed(deed, at) {
        this.deed = `the page: ${at.verb} in ${at.name}`;
        const before = this.chats(at.source);
        const did = await deed.do(at);
        await this.leave();
        if (this.chats(at.source).some((name) => !before.includes(name))) {
            this.may.push(...taken); // also where the page writes the greeting of a chat that was open and is gone
        }
        return did && `the page: ${at.verb} ${did}, in ${at.name}`;
    }

    /** Does a deed of ours; gives what it was, and the state before and after it. */
    ourDeed(deed, at) {
        const laid = [];
        const put = (file, bytes) => {
            fs.writeFileSync(file, bytes);
            laid.push({ file, bytes });
        };
        const args = fs.existsSync(at.file) || at.verb === 'new' ? deed.args({ ...at, put }) : null;
        if (!args || args.includes(undefined)) { // no free name is left, say
            return null;
        }
        const call = args.map((a) => path.basename(a)).join(' ');
        this.deed = `${this.deed ?? ''} ... stchat ${call}`;
        const before = this.look();
        const { code, err } = this.stchat(...args, '-q');
        const after = this.look();
        const changes = changesBetween(before, after);
        if (code !== 0) {
            none(changes, `what ${call} changes although it fails (${code}): ${err}`);
            assert.ok(code === 1 || code === 2 && deed.refused.test(err), `${call} exits ${code}: ${err}`);
            laid.forEach(({ file }) => fs.rmSync(file));
            return null;
        }
        assert.equal(err, '', `what ${call} says`);
        deed.forgets && this.forget();
        this.pruned ||= deed.forgets;
        const changed = changes.length > 0;
        if (!changed) { // merge may leave a conflict file, and says why: the deed is as none
            laid.forEach(({ file }) => fs.rmSync(file));
        }
        return { call: `${call}${changed ? '' : ' (changes nothing)'}`, verb: verbOf(args), changed, before, after, laid };
    }

    /** Takes deeds of ours back, the last first, and does them again: each to the byte. */
    backAndForth(deeds) {
        for (const deed of [...deeds].reverse()) {
            const [undone] = this.documents('undo', '--json', '-q', '--data', this.t.data.root);
            assert.equal(undone.command[0], deed.verb, `what undo takes back, where ${deed.call} was the last`);
            none(changesBetween(deed.before, this.look()), `what undo of ${deed.call} leaves changed`);
            deed.laid.forEach(({ file }) => fs.rmSync(file));
        }
        for (const deed of deeds) {
            deed.laid.forEach(({ file, bytes }) => fs.writeFileSync(file, bytes));
            this.documents('redo', '--json', '-q', '--data', this.t.data.root);
            none(changesBetween(deed.after, this.look()), `what is not again as ${deed.call} left it, after undo and redo`);
        }
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
        const times = () => folders.map((name) => path.join(this.t.data.root, name)).filter((folder) => fs.existsSync(folder))
            .flatMap((folder) => fs.readdirSync(folder, { recursive: true }).map((name) => {
                const is = fs.statSync(path.join(folder, name), { throwIfNoEntry: false });
                return `${name} ${is?.size} ${is?.mtimeMs}`;
            })).join('\n');
        for (let last = times(), calm = 0; calm < 2;) {
            await new Promise((resolve) => setTimeout(resolve, 150));
            const now = times();
            calm = now === last ? calm + 1 : 0;
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
            const told = (d) => `${d.path}: ${d.message}`;
            const before = (this.rules.get(rule) ?? []).map(told);
            if (may && list.length > before.length) {
                const fresh = list.filter((d) => !before.includes(told(d)));
                // The children of a chat that stchat deletes name its parent, also one that the page deleted before.
                const missing = (this.rules.get(rule) ?? []).map((d) => d.message);
                const isInherited = rule === 'dangling-main-chat' && fresh.every((d) => missing.includes(d.message));
                assert.ok(may.includes(rule) || isInherited, `check finds ${rule}: ${fresh.map(told).join(' / ')}`);
            }
        }
        this.rules = now;
    }

    /** Keeps a version of everything in the history, and its bytes here, unless the page, which is late, has just written it. */
    keep() {
        const from = Date.now() - 5; // the clock of a file system ticks every few milliseconds
        for (const { rev, path: file } of this.documents('snapshot', this.t.data.root, '--json', '-q')) {
            const full = rev && path.resolve(this.t.data.root, file); // the last document is of the run
            const bytes = rev && fs.readFileSync(full);
            if (rev && fs.statSync(full).ctimeMs < from) { // the server renames what it wrote earlier: that shows in ctime only
                this.versions.push({ rev, file: full, bytes });
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
        const { code, err } = this.stchat('store', '--verify', '--data', this.t.data.root, '-q');
        assert.equal(code, 0, `store --verify: ${err}`);
    }

    /** Leaves out the versions that are no longer kept; the last one of each file that there is has to be. */
    forget() {
        const last = [...new Map(this.versions.map((v) => [v.file, v])).values()].filter((v) => fs.existsSync(v.file));
        const kept = new Set(this.documents('log', '--snapshots', '--data', this.t.data.root, '--json').flatMap((run) => run.changes.map((c) => c.rev)));
        none(last.filter((v) => !kept.has(v.rev)).map((v) => `${v.rev} of ${v.file}`), 'the last versions that are no longer kept');
        this.versions = this.versions.filter((v) => kept.has(v.rev));
    }

    /**
     * Fails unless the server lists the chats that there are (of a group: that the group lists), with the numbers of messages that stchat counts, and tree tells
     * of each chat's parent what its header says, and whether it is there.
     */
    async listed() {
        const rows = this.documents('tree', this.t.data.root, '--json', '--all').filter((row) => row.path);
        for (const source of this.sources) {
            const here = this.present(source);
            const mine = rows.filter((row) => path.dirname(path.resolve(row.path)) === source.folder && here.includes(row.name));
            const answer = await this.t.server.post('/api/chats/search', { query: '', avatar_url: source.avatar, group_id: source.id });
            status(answer, 200, 'chats/search');
            const counts = (list) => Object.fromEntries(list.sort());
            same(counts(answer.body.map((c) => [c.file_name, c.message_count])), counts(mine.map((row) => [row.name, row.messages])), 'the chats that the server lists');
            for (const row of mine) {
                const { chat_metadata: { main_chat: parent } = {} } = JSON.parse(fs.readFileSync(row.path, 'utf8').split('\n')[0]);
                if (parent && parent !== row.name && !row.cycle) {
                    assert.equal(here.includes(parent) ? row.parent : row.dangling, parent, `the parent of ${row.name}`);
                }
            }
        }
    }

    /** Opens a chat in the page, goes where it leads, and gives what the page had. One that is as when last seen is passed over. */
    async show(source, name, last) {
        const { t } = this;
        const file = fileOf(source, name);
        if (this.seen.get(file) === textOf(file)) {
            return null;
        }
        const page = source === last ? await openBeside(t, source, name) : await open(t, source, name);
        assert.equal(page.name, name, 'the chat that the page opens');
        const here = this.present(source);
        const flags = [...page.messages.entries()].filter(([, m]) => here.includes(m.extra?.bookmark_link) && m.extra.bookmark_link !== name);
        const [at, flag] = this.dice.pick(flags) ?? [];
        const parent = page.meta.main_chat;
        const go = async (command, to, what) => {
            await this.t.page.evaluate((command) => SillyTavern.getContext().executeSlashCommandsWithOptions(command), command);
            assert.equal((await state(t)).name, to, `the chat behind ${what} of ${name}`);
        };
        if (flag) {
            await go(`/checkpoint-go ${at}`, flag.extra.bookmark_link, `the flag at ${at}`);
        }
        if (here.includes(parent) && parent !== name) {
            flag && await openBeside(t, source, name);
            await go('/checkpoint-exit', parent, '"back to parent"');
        }
        return { source, name, file, page };
    }

    /** Fails unless stchat reads a chat as the page had it. */
    agree({ file, name, page }) {
        const told = this.documents('show', file, '--swipes', '--json', '-q');
        assert.equal(told.length, page.messages.length, `the number of messages of ${name}`);
        for (const [i, doc] of told.entries()) {
            same(asTold(doc), inPage(page.messages[i], doc), `message ${i} of ${name}`);
        }
        this.seen.set(file, textOf(file));
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

const textOf = (file) => fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';

/** Opens another chat of the owner whose chat the page has open. */
async function openBeside(t, { id }, name) {
    await t.page.evaluate(async (group, name) => group
        ? (await import('/scripts/group-chats.js')).openGroupChat(group, name)
        : (await import('/script.js')).openCharacterChat(name), id, name);
    return state(t);
}

/** Fails where a list has anything, and says what. */
function none(list, what) {
    assert.equal(list.join(' / '), '', what);
}

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
