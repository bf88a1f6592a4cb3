// A chat over which the greeting was written, with nothing but SillyTavern's own backups: lost finds it, restore brings
// it back, and the server opens it.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { groupOpensAs, isListed, opensAs, save } from '../checks.mjs';
import { same, sameBytes, status } from '../expect.mjs';
import { lines } from '../fixtures.mjs';

const skip = (t) => (t.atLeast('1.19.0') ? null : 'backups are tested with 1.19');

/** Messages that no other chat has, but for the greeting. */
function said(count, character) {
    return Array.from({ length: count }, (_, i) => ({
        name: i % 2 ? 'User' : character,
        is_user: i % 2 === 1,
        is_system: false,
        send_date: new Date(Date.UTC(2026, 0, 2, 3, i)).toISOString(),
        mes: i ? `${character} ${i}: the tide \u6f6e came in` : 'Welcome.',
        extra: {},
    }));
}

/** What an error while a chat loads ends in: the page saves a new chat, which is its greeting, over the old one. */
const greet = (t, source, name) => t.server.post('/api/chats/save', {
    ch_name: source.character, file_name: name, avatar_url: source.avatar, force: true,
    chat: [{ chat_metadata: {}, user_name: 'unused', character_name: 'unused' }, source.messages[0]],
});

/** The arguments of a command line as a POSIX shell reads it. */
const argumentsOf = (command) => [...command.matchAll(/(?:'[^']*'|\\.|[^\s'])+/g)]
    .map(([word]) => word.replace(/'([^']*)'|\\(.)/g, (_, quoted, escaped) => quoted ?? escaped));

/** The last line that a call prints. */
const lastLine = (text) => text.trim().split('\n').at(-1);

const documents = (text) => text.trim().split('\n').map((line) => JSON.parse(line));

const greeting = {
    id: 'lost-greeting',
    title: '60 saves, a branch, a rename, the greeting over it: lost, restore',
    skip,
    prepare(t) {
        const source = t.data.solo('Lost', { messages: said(72, 'Lost') });
        const others = ['Lost Twin', '\u6f6e Lost'].map((name) => t.data.solo(name, { messages: said(20, name) }));
        const group = t.data.group('Lost group');
        return { source, others, group };
    },
    async run(t, { source, others, group }) {
        const { header, messages } = source;
        for (let n = 13; n <= messages.length; n++) {
            status(await save(t, source, source.chat, [header, ...messages.slice(0, n)]), 200, `save ${n}`);
        }
        const side = t.path('branch', source.file, '--at', '20', '-n', 'Side');
        const sideName = path.basename(side, '.jsonl');
        const sideObjects = fs.readFileSync(side, 'utf8').split('\n').map((line) => JSON.parse(line));
        status(await save(t, source, sideName, sideObjects), 200, 'saving the branch');
        const name = 'Lost, renamed';
        status(await t.server.post('/api/chats/rename', {
            is_group: false, avatar_url: source.avatar, original_file: `${source.chat}.jsonl`, renamed_file: `${name}.jsonl`,
        }), 200, 'renaming it');
        const file = path.join(source.folder, `${name}.jsonl`);
        // Backups are named by the second, and the last one of a second counts.
        await sleep(1100);
        status(await save(t, source, name, [header, ...messages]), 200, 'saving it under its new name');
        for (const other of others) {
            status(await save(t, other, other.chat, [other.header, ...other.messages]), 200, `saving ${other.character}`);
        }
        const groupMessages = said(20, 'Lost group');
        status(await t.server.post('/api/chats/group/save', { id: group.chat, chat: [group.header, ...groupMessages] }), 200, 'saving the group');
        await sleep(1100);
        t.stchat('lost', '-q', t.data.root);

        status(await greet(t, source, name), 200, 'the greeting over it');
        for (const other of others) {
            status(await greet(t, other, other.chat), 200, `the greeting over ${other.character}`);
        }
        status(await t.server.post('/api/chats/group/save', {
            id: group.chat, force: true, chat: [{ ...group.header, chat_metadata: {} }, groupMessages[0]],
        }), 200, 'the greeting over the group');
        await opensAs(t, source, name, fs.readFileSync(file, 'utf8').split('\n').map((line) => JSON.parse(line)));

        const told = documents(t.stchat({ code: 1 }, 'lost', '--json', t.data.root));
        const summary = told.pop();
        const found = new Map(told.map((doc) => [doc.path, doc]));
        // The branch has messages 0 to 20.
        const want = new Map([[file, 51], ...others.map((o) => [o.file, 19]), [group.file, 19]]);
        same([...found.keys()].sort(), [...want.keys()].sort(), 'the chats that lost something');
        for (const [chat, lost] of want) {
            const doc = found.get(chat);
            same([doc.live_messages, doc.lost, doc.reworded, doc.ambiguous], [1, lost, 0, false], `what ${path.basename(chat)} lost`);
        }
        const places = summary.places.find((p) => p.owners.includes('Lost'));
        same(places.others.map((o) => o.owners), [['Lost Twin']], 'whose backups a save of Lost deletes');

        for (const [chat, of] of [[file, source], ...others.map((o) => [o.file, o])]) {
            const args = argumentsOf(found.get(chat).command);
            assert.equal(args.shift(), 'stchat');
            const back = t.path(...args, '-q');
            const [first, ...rest] = fs.readFileSync(back, 'utf8').split('\n').map((line) => JSON.parse(line));
            same(rest, of.messages, `the messages of ${path.basename(back)}`);
            const backName = path.basename(back, '.jsonl');
            await isListed(t, of, backName, of.messages.length);
            await opensAs(t, of, backName, [first, ...rest]);
            status(await save(t, of, backName, [first, ...rest]), 200, 'saving it again');
            sameBytes(fs.readFileSync(back), lines(first, ...rest), 'the file saved again');
            t.stchat('check', '-q', back);
        }
        t.stchat({ changes: [group.file] }, 'restore', '-q', '--in-place', group.file, '--backup', found.get(group.file).best.path);
        await groupOpensAs(t, group.chat, fs.readFileSync(group.file, 'utf8').split('\n').map((line) => JSON.parse(line)));
        t.stchat('lost', '-q', t.data.root);
    },
};

/** The versions that snapshot keeps, as the server goes on writing. */
const versions = {
    id: 'history-versions',
    title: 'snapshot, saves, log, search, restore as of a time, of a folder',
    skip,
    prepare: (t) => t.data.solo('Kept', { messages: said(12, 'Kept') }),
    async run(t, source) {
        const store = path.join(t.scratch, 'history.db');
        const kept = (...args) => t.stchat(`STCHAT_STORE=${store}`, ...args);
        const before = fs.readFileSync(source.file);
        kept('snapshot', '-q', source.folder);
        await sleep(1100);
        const then = new Date().toISOString();
        await sleep(1100);
        const edited = source.messages.slice(0, 8);
        edited[5] = { ...edited[5], mes: 'reworded by a heron' };
        status(await save(t, source, source.chat, [source.header, ...edited]), 200, 'saving it');
        kept('snapshot', '-q', source.folder);

        const log = documents(kept('log', '--json', source.file));
        same(log.map((v) => [v.rev, v.messages, v.added, v.changed, v.removed]), [[2, 8, 0, 1, 4], [1, 12, 12, 0, 0]], 'the log');
        const changes = documents(kept('log', '--json', '--rev', '-1', source.file));
        same(changes.map((c) => [c.op, c.index]), [['change', 5], ...[8, 9, 10, 11].map((i) => ['remove', i])], 'what the last version changed');
        sameBytes(Buffer.from(kept('restore', source.file, '--as-of', then, '-o', '-')), before, 'the chat as of then');
        const folder = path.join(t.scratch, 'as-of');
        const wrote = path.join(folder, path.relative(t.data.root, source.file));
        same(kept('restore', '-q', source.folder, '--as-of', then, '-o', folder), `${wrote}\n`, 'what restore of the folder writes');
        sameBytes(fs.readFileSync(wrote), before, 'the chat in the folder as of then');
        const gone = documents(kept('search', '--json', '--gone', 'Kept', '9', source.folder));
        same(gone.map((g) => [g.index, g.rev, g.gone]), [[9, 1, true]], 'what search finds that is gone');
    },
};

/** A reply with three swipes among the messages. */
function swiped(messages) {
    const texts = [messages[4].mes, 'a second wind', 'a third wind'];
    const info = (k) => ({ send_date: messages[4].send_date, extra: { model: `wind ${k}` } });
    return messages.map((m, i) => i === 4 ? { ...m, swipes: texts, swipe_id: 0, swipe_info: texts.map((_, k) => info(k)) } : m);
}

/** Messages and a swipe that were deleted, put back where they stood: by what undo keeps, and by SillyTavern's backups. */
const messages = {
    id: 'lost-messages',
    title: 'messages and a swipe that were deleted are put back',
    skip,
    prepare(t) {
        const source = t.data.solo('Lost words', { meta: { tainted: true }, messages: swiped(said(20, 'Lost words')) });
        const before = fs.readFileSync(source.file);
        const change = (...args) => t.stchat({ changes: [source.file] }, ...args);
        change('delete', '-q', source.file, '2,6..8');
        const told = documents(t.stchat({ code: 1 }, 'lost', '-q', '--json', source.file));
        same(told.slice(0, -1).map((d) => [d.kind, d.number, d.after, d.source]),
            [['message', 2, 1, 'undo'], ...[6, 7, 8].map((n) => ['message', n, 4, 'undo'])], 'what it has lost');
        change('lost', '-q', source.file, '--restore', '-y');
        sameBytes(fs.readFileSync(source.file), before, 'the chat with its messages back');
        change('undo', '-q', '--data', t.data.root);
        change('undo', '-q', '--data', t.data.root);
        sameBytes(fs.readFileSync(source.file), before, 'the chat after two undos');
        return source;
    },
    async run(t, source) {
        const { header, messages } = source;
        status(await save(t, source, source.chat, [header, ...messages]), 200, 'saving it');
        await sleep(1100);
        const fewer = messages.filter((_, i) => i !== 9 && i !== 10).map((m) => m.swipes
            ? { ...m, swipes: m.swipes.toSpliced(1, 1), swipe_info: m.swipe_info.toSpliced(1, 1) } : m);
        const since = { ...messages.at(-1), mes: 'and on it went', send_date: new Date(Date.UTC(2026, 0, 3)).toISOString() };
        status(await save(t, source, source.chat, [header, ...fewer, since]), 200, 'saving it without them');

        const told = documents(t.stchat({ code: 1 }, 'lost', '-q', '--json', source.file));
        same(told.slice(0, -1).map((d) => [d.kind, d.number, d.swipe, d.source]),
            [['swipe', 4, 2, 'backups'], ['message', 9, null, 'backups'], ['message', 10, null, 'backups']], 'what the page deleted');
        t.stchat({ changes: [source.file] }, 'lost', '-q', source.file, '--restore', '-y');
        const want = [...messages.map((m) => m.swipes ? {
            ...m, swipes: [0, 2, 1].map((k) => m.swipes[k]), swipe_info: [0, 2, 1].map((k) => m.swipe_info[k]),
        } : m), since];
        const [first, ...rest] = fs.readFileSync(source.file, 'utf8').split('\n').map((line) => JSON.parse(line));
        same(rest, want, 'the messages');
        await opensAs(t, source, source.chat, [first, ...rest]);
        status(await save(t, source, source.chat, [first, ...rest]), 200, 'saving it again');
        sameBytes(fs.readFileSync(source.file), lines(first, ...rest), 'the file saved again');
        t.stchat('check', '-q', source.file);
        t.stchat('lost', '-q', source.file);
    },
};

/** What happened, in one list: commands, what undo took back, snapshots, and the server's own backups of a chat. */
const story = {
    id: 'history-log',
    title: 'log: commands, undo, a snapshot, and the server\u2019s backups, newest first',
    skip,
    prepare: (t) => t.data.solo('Told', { messages: said(12, 'Told') }),
    async run(t, source) {
        const { header, messages } = source;
        const store = path.join(t.scratch, 'told.db');
        const at = (...args) => t.stchat(`STCHAT_STORE=${store}`, ...args);
        for (const count of [8, 12]) {
            status(await save(t, source, source.chat, [header, ...messages.slice(0, count)]), 200, 'saving it');
            await sleep(1100); // backups are named by the second
        }
        t.path('branch', source.file, '4', 'Told side', '-q');
        t.stchat({ changes: [source.file] }, 'edit', source.file, '3', 'Told otherwise.', '-q');
        at('snapshot', source.folder, '-q', '--note', 'before the storm');
        t.stchat({ changes: [source.file] }, 'undo', '-q', '--data', t.data.root);

        const rows = at('log', t.data.root, '--limit', '4').trim().split('\n').map((line) => line.split('\t'));
        same(rows.map((row) => row[1]), ['command', 'snapshot', 'command', 'command'], 'what happened');
        [/^stchat undo /, /before the storm/, /^stchat edit .* 3 … -q$/, /^stchat branch .* 4 'Told side' -q$/].forEach((text, i) => assert.match(rows[i][3], text));
        same(rows.map((row) => row[5] ?? ''), ['', '', 'undone', ''], 'what is undone');
        const ids = documents(t.stchat('log', t.data.root, '--commands', '--limit', '3', '--json')).map((doc) => [doc.id, doc.command[0], doc.undone]);
        same(ids, [[rows[0][2], 'undo', false], [rows[2][2], 'edit', true], [rows[3][2], 'branch', false]], 'the commands');

        const told = documents(at('log', source.file, '--backups', '--json'));
        const counts = told.filter((version) => version.source === 'backup').map((version) => version.messages);
        same(counts, [12, 8], 'the server\u2019s backups');
        await opensAs(t, source, source.chat, [header, ...messages]);
    },
};

/** The server deletes a chat: it comes back from the history under its name, or from the server's own backup under a new one. */
const deleted = {
    id: 'lost-deleted',
    title: 'a chat that the server deleted: lost CHAT --restore; lost FOLDER --restore without a history',
    skip,
    prepare: (t) => t.data.solo('Deleted', { messages: said(20, 'Deleted') }),
    async run(t, source) {
        const { header, messages } = source;
        const store = `STCHAT_STORE=${path.join(t.scratch, 'deleted.db')}`;
        t.path('branch', source.file, '4', 'Deleted side', '-q');
        t.stchat(store, 'snapshot', source.folder, '-q');
        status(await save(t, source, source.chat, [header, ...messages]), 200, 'saving it');
        await sleep(1100);
        const before = fs.readFileSync(source.file);
        status(await t.server.post('/api/chats/delete', { chatfile: `${source.chat}.jsonl`, avatar_url: source.avatar }), 200, 'deleting it');
        assert.ok(!fs.existsSync(source.file), 'the chat is gone');

        const opensAndSaves = async (file) => {
            sameBytes(fs.readFileSync(file), before, 'the chat that is back');
            const name = path.basename(file, '.jsonl');
            await isListed(t, source, name, messages.length);
            await opensAs(t, source, name, [header, ...messages]);
            status(await save(t, source, name, [header, ...messages]), 200, 'saving it again');
            sameBytes(fs.readFileSync(file), before, 'the chat, saved again');
        };
        const back = lastLine(t.stchat({ prints: 'last' }, 'lost', source.folder, '--restore', '-y', '-q'));
        await opensAndSaves(back);
        t.stchat({ changes: [back] }, 'undo', '-q', '--data', t.data.root);
        t.stchat({ changes: [source.file] }, store, 'lost', source.file, '--restore', '-y', '-q');
        await opensAndSaves(source.file);
        t.stchat(store, 'check', '-q', source.folder);
    },
};

/** What comes back beside a living chat has a slug of its own, though the version has the living chat's: both are saved. */
const beside = {
    id: 'restore-beside',
    title: 'a version and a lost chat come back beside the living one: each with its own slug',
    skip,
    prepare: (t) => t.data.solo('Beside', { messages: said(20, 'Beside') }),
    async run(t, source) {
        const { header, messages } = source;
        const store = path.join(t.scratch, 'beside.db');
        const kept = (...args) => lastLine(t.stchat({ prints: 'last' }, `STCHAT_STORE=${store}`, ...args, '-q'));
        t.stchat(`STCHAT_STORE=${store}`, 'snapshot', source.folder, '-q');
        status(await save(t, source, source.chat, [header, ...messages]), 200, 'saving it');
        // All of its messages are deleted: the slug stays.
        status(await save(t, source, source.chat, [header]), 200, 'saving the header alone');

        const back = [
            kept('lost', source.file, '--restore', '-y'),
            kept('restore', source.file, '--rev', '1'),
            kept('restore', source.file, '--rev', '1', '-n', 'Named'),
        ];
        const chats = [source.file, ...back].map((file) => ({ file, name: path.basename(file, '.jsonl'), objects: fs.readFileSync(file, 'utf8').split('\n').map((line) => JSON.parse(line)) }));
        const slugs = chats.map(({ objects: [first] }) => first.chat_metadata.integrity);
        assert.equal(slugs[0], source.meta.integrity, 'the living chat has its slug');
        assert.equal(new Set(slugs).size, slugs.length, `each has a slug of its own: ${slugs.join(', ')}`);
        for (const { file, name, objects } of chats) {
            const [first, ...rest] = await opensAs(t, source, name, objects);
            same(rest, file === source.file ? [] : messages, `the messages of ${name}`);
            status(await save(t, source, name, [first, ...rest]), 200, `saving ${name}`);
            sameBytes(fs.readFileSync(file), lines(...objects), `${name}, saved again`);
        }
        // A tab with the one cannot write over the other.
        const foreign = await save(t, source, chats[1].name, chats[0].objects);
        status(foreign, 400, 'saving the living chat over the one that came back');
        t.stchat('check', '-q', ...back);
    },
};

export const history = [greeting, deleted, messages, beside, versions, story];
