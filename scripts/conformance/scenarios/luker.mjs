// Luker, a fork of SillyTavern: its server and page, where LUKER_DIR names a checkout of it. See FORMATS A1 to A3.
//
// Its server gives a chat a new slug at every write, keeps state in files beside chats and cards, and has ways of its own
// to add to a chat; its open tab writes over what somebody else did to the messages.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { same, sameBytes, status, uuid } from '../expect.mjs';
import { cardFile, chatFile, clean, current, shows, slash } from '../kin.mjs';
import { createBranch, needsPage, open, quiet, state } from '../tab.mjs';
import { until } from '../waits.mjs';

/** The file of a chat's state in a namespace. */
const sidecar = (source, name, namespace) => path.join(source.folder, `${name}.luker-state.${namespace}.json`);
const characterState = (t, source, namespace) => path.join(t.data.root, 'characters', `${source.character}.state.${namespace}.json`);
const read = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));
const objectsIn = (file) => fs.readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line));

const commit = (floor, op, value) => ({ floor, swipeId: 0, patches: [{ op, path: '/value', value }] });
const commits = [commit(1, 'add', 10), commit(5, 'replace', 8), commit(9, 'replace', 3)];

/** A character with one chat as Luker's file engine leaves it: an LF at its end, a floor log, a note of the slug, plain state. */
function lukerChat(t, character) {
    const source = t.data.solo(character);
    fs.appendFileSync(source.file, '\n');
    const put = (namespace, value) => fs.writeFileSync(sidecar(source, source.chat, namespace), JSON.stringify(value));
    put('hp__floor_log', { version: 1, commits });
    put('chat_sync', { integrity: source.meta.integrity, updated_at: 1767322000000 });
    put('notes', { kept: true });
    return source;
}

/** What a call of the server answers; it fails unless the status is as wanted. */
async function ask(t, endpoint, body, want = 200) {
    const answer = await t.server.post(endpoint, body);
    status(answer, want, endpoint);
    return answer.body;
}

const target = (source, name) => ({ avatar_url: source.avatar, file_name: name });
const get = (t, source, name) => ask(t, '/api/chats/get', { ...target(source, name), ch_name: source.character });
const stateOf = async (t, source, name, namespace) =>
    (await ask(t, '/api/chats/state/get', { ...target(source, name), is_group: false, namespace })).data;
/** The sidecars of a chat that stchat has made of a source. */
const copyOf = (source, name) => ['hp__floor_log', 'chat_sync'].map((ns) => sidecar(source, `${source.chat}__${name}`, ns));
const said = (text) => ({ name: 'User', is_user: true, is_system: false, send_date: new Date().toISOString(), mes: text, extra: {} });

/** Fails unless the server has a chat with these messages; gives its slug, which is a UUID. */
async function holds(t, source, name, messages) {
    const [header, ...rest] = await get(t, source, name);
    same(rest, messages, `the messages of ${name} in the server`);
    const { integrity } = header.chat_metadata;
    assert.match(String(integrity), uuid, `the slug of ${name}`);
    return integrity;
}

/** The server's own ways to write, one after the other: with a wrong slug each is refused, with the right one it is done. */
async function writes(t, source, name) {
    const file = chatFile(source, name);
    const last = said('appended');
    const ways = [
        ['append', { messages: [last] }, (list) => [...list, last]],
        ['patch', { operations: [{ op: 'replace', path: '/1/mes', value: 'patched' }] },
            (list) => list.map((m, i) => (i === 1 ? { ...m, mes: 'patched' } : m))],
        ['meta', { chat_metadata: { note_prompt: 'a note' } }, (list) => list],
    ];
    let [header, ...messages] = await get(t, source, name);
    for (const [way, body, change] of ways) {
        const slug = header.chat_metadata.integrity;
        const refused = await ask(t, `/api/chats/${way}`, { ...target(source, name), ...body, integrity: 'ffffffff-ffff-4fff-8fff-ffffffffffff' }, 409);
        assert.equal(refused.error, 'integrity', `${way} with a wrong slug`);
        await ask(t, `/api/chats/${way}`, { ...target(source, name), ...body, integrity: slug });
        messages = change(messages);
        const fresh = await holds(t, source, name, messages);
        assert.notEqual(fresh, slug, `the slug after ${way}`);
        [header] = await get(t, source, name);
        const [, ...kept] = objectsIn(file);
        same(kept, messages, `the file after ${way}`);
        // Which of header and chat_sync gets the new slug differs between versions: either way the chat is healthy.
        clean(t, file);
    }
    return messages;
}

const copies = {
    id: 'luker-copies',
    title: 'checkpoint and branch open; floor logs come along, cut; nothing else does',
    prepare(t) {
        const source = lukerChat(t, 'luker copies');
        const made = ['checkpoint', 'branch'].map((kind, i) => {
            const at = 4 + i;
            const messages = objectsIn(source.file).slice(1, at + 2);
            const changes = [...copyOf(source, kind), source.file, sidecar(source, source.chat, 'chat_sync')];
            const file = t.path({ changes }, kind, source.file, '--at', String(at), '-n', kind, '--link', '-q');
            return { name: path.basename(file, '.jsonl'), file, at, messages };
        });
        return { source, made };
    },
    async run(t, { source, made }) {
        for (const { name, file, at, messages } of made) {
            const slug = await holds(t, source, name, messages);
            const [header] = objectsIn(file);
            assert.equal(slug, header.chat_metadata.integrity, `the slug of ${name}`);
            assert.notEqual(slug, source.meta.integrity, `the slug of ${name}`);
            same(await stateOf(t, source, name, 'hp__floor_log'), { version: 1, commits: commits.filter((c) => c.floor <= at) }, 'the floor log');
            assert.equal(await stateOf(t, source, name, 'notes'), null, 'the plain state');
            const listed = Object.values(await ask(t, '/api/characters/chats', { avatar_url: source.avatar }));
            assert.equal(listed.find((c) => c.file_name === `${name}.jsonl`)?.chat_items, at + 1, `the list's count of ${name}`);
            assert.equal(header.chat_metadata.main_chat, source.chat, `the parent of ${name}`);
        }
        await holds(t, source, source.chat, objectsIn(source.file).slice(1));
        await writes(t, source, made[1].name);
        await writes(t, source, source.chat);
    },
};

const edits = {
    id: 'luker-edits',
    title: 'edits with the tab closed: the server has them, an older slug is refused',
    prepare: (t) => lukerChat(t, 'luker edits'),
    async run(t, source) {
        const { file, chat } = source;
        await writes(t, source, chat);
        const log = sidecar(source, chat, 'hp__floor_log');
        const sync = sidecar(source, chat, 'chat_sync');
        const calls = [
            [[], 'edit', file, '3', '--set', 'mes=set from outside'],
            [[], 'add', file, '--role', 'user', '--text', 'added from outside'],
            [[log], 'delete', file, '2'],
            [[], 'hide', file, '5'],
            [[], 'meta', 'set', file, '--set', 'note_depth=7'],
        ];
        for (const [more, ...call] of calls) {
            const [before] = await get(t, source, chat);
            const old = before.chat_metadata.integrity;
            // a new slug goes to the header, and to chat_sync where there is one
            t.stchat({ changes: [file, sync, ...more] }, ...call, '-q');
            const [header, ...messages] = objectsIn(file);
            assert.equal(read(sync).integrity, header.chat_metadata.integrity, 'both slugs');
            assert.equal(await holds(t, source, chat, messages), header.chat_metadata.integrity, `the slug after ${call[0]}`);
            const late = { ...target(source, chat), messages: [said('too late')] };
            await ask(t, '/api/chats/append', { ...late, integrity: old }, 409);
            clean(t, file);
        }
        same((await stateOf(t, source, chat, 'hp__floor_log')).commits.map((c) => c.floor), [1, 4, 8], 'floors after message 2 went');
        await writes(t, source, chat);
    },
};

const renames = {
    id: 'luker-rename',
    title: 'rename and rm: what the server\u2019s own leave',
    prepare: (t) => ({ ours: lukerChat(t, 'luker ours'), theirs: lukerChat(t, 'luker theirs') }),
    async run(t, { ours, theirs }) {
        const namespaces = ['hp__floor_log', 'chat_sync', 'notes'];
        const all = (source, name) => [chatFile(source, name), ...namespaces.map((ns) => sidecar(source, name, ns))];
        const left = (source) => fs.readdirSync(source.folder).filter((name) => !name.startsWith('.')).sort();
        await ask(t, '/api/chats/rename', {
            avatar_url: theirs.avatar, is_group: false, original_file: `${theirs.chat}.jsonl`, renamed_file: 'Renamed.jsonl',
        });
        t.stchat({ changes: [...all(ours, ours.chat), ...all(ours, 'Renamed'), cardFile(t, ours)] }, 'rename', ours.file, 'Renamed', '-q');
        same(left(ours), left(theirs), 'the files after rename');
        for (const ns of ['hp__floor_log', 'notes']) {
            sameBytes(fs.readFileSync(sidecar(ours, 'Renamed', ns)), fs.readFileSync(sidecar(theirs, 'Renamed', ns)), ns);
            same(await stateOf(t, ours, 'Renamed', ns), read(sidecar(ours, 'Renamed', ns)), ns);
        }
        await holds(t, ours, 'Renamed', ours.messages);
        assert.equal(await current(t, ours), 'Renamed', 'the card');
        clean(t, ours.folder);

        const before = all(ours, 'Renamed').map((file) => fs.readFileSync(file));
        await ask(t, '/api/chats/delete', { avatar_url: theirs.avatar, chatfile: 'Renamed.jsonl' });
        t.stchat({ changes: all(ours, 'Renamed') }, 'rm', chatFile(ours, 'Renamed'), '-q');
        same(left(ours), left(theirs), 'the files after rm');
        t.stchat({ changes: all(ours, 'Renamed') }, 'undo', '-q', '--data', t.data.root);
        all(ours, 'Renamed').forEach((file, i) => sameBytes(fs.readFileSync(file), before[i], path.basename(file)));
        await holds(t, ours, 'Renamed', ours.messages);
    },
};

const states = {
    id: 'luker-state',
    title: 'state of chats and characters, in both directions',
    prepare: (t) => lukerChat(t, 'luker state'),
    async run(t, source) {
        const { file, chat } = source;
        const card = cardFile(t, source);
        const ours = (...args) => JSON.parse(t.stchat('state', 'get', ...args));
        const mood = sidecar(source, chat, 'mood');

        t.stchat({ changes: [mood] }, 'state', 'set', file, 'mood', '--set', '/calm=true', '-q');
        same(await stateOf(t, source, chat, 'mood'), { calm: true }, 'what stchat set');
        await ask(t, '/api/chats/state/patch', {
            ...target(source, chat), is_group: false, namespace: 'mood', operations: [{ op: 'add', path: '/since', value: 4 }],
        });
        same(ours(file, 'mood'), { calm: true, since: 4 }, 'what the server set');

        t.stchat({ changes: [sidecar(source, chat, 'hp__floor_log')] }, 'state', 'set', file, 'hp', '--set', 'value=7', '-q');
        const log = await stateOf(t, source, chat, 'hp__floor_log');
        same(log.commits.slice(0, -1), commits, 'the commits before');
        assert.equal(log.commits.at(-1).floor, source.messages.length - 1, 'the floor of the new commit');
        same(ours(file, 'hp'), { value: 7 }, 'the floor log replayed');

        t.stchat({ changes: [characterState(t, source, 'trust')] }, 'state', 'set', card, 'trust', '--set', '/points=3', '-q');
        const character = (namespace) => ask(t, '/api/characters/state/get', { avatar_url: source.avatar, namespace });
        same((await character('trust')).data, { points: 3 }, 'the character\u2019s state');
        await ask(t, '/api/characters/state/set', { avatar_url: source.avatar, namespace: 'trust', data: { points: 4 } });
        same(ours(card, 'trust'), { points: 4 }, 'the character\u2019s state from the server');

        t.stchat({ changes: [mood] }, 'state', 'set', file, 'mood', '--delete', '-q');
        assert.equal(await stateOf(t, source, chat, 'mood'), null, 'state that stchat deleted');
        clean(t, source.folder);
    },
};

const opened = {
    id: 'luker-open',
    title: 'open: the card\u2019s chat; of a group, the group\u2019s',
    prepare(t) {
        const source = lukerChat(t, 'luker open');
        const group = t.data.group('Luker group');
        const side = t.path({ changes: copyOf(source, 'Side') }, 'branch', source.file, '--at', '5', '-n', 'Side', '-q');
        const other = t.path({ changes: [group.groupFile, group.file] }, 'branch', group.file, '--at', '5', '-n', 'Group side', '--link', '-q');
        return { source, group, side, other };
    },
    async run(t, { source, group, side, other }) {
        t.stchat({ changes: [cardFile(t, source)] }, 'open', side, '-q');
        assert.equal(await current(t, source), path.basename(side, '.jsonl'), 'the card');
        t.stchat({ changes: [group.groupFile] }, 'open', other, '-q');
        const name = path.basename(other, '.jsonl');
        const all = await ask(t, '/api/groups/all', {});
        const found = all.find((g) => g.id === group.id);
        assert.equal(found?.chat_id, name, 'the group\u2019s open chat');
        same(found.chats, [group.chat, name], 'the group\u2019s chats');
        const [header, ...messages] = await ask(t, '/api/chats/group/get', { id: name });
        same(messages, group.messages.slice(0, 6), 'the group\u2019s branch');
        const last = said('in the group');
        await ask(t, '/api/chats/group/append', { id: name, messages: [last], integrity: header.chat_metadata.integrity });
        same(objectsIn(other).slice(1), [...messages, last], 'the file after the server added to it');
        clean(t, other);
    },
};

const inPage = {
    id: 'luker-page',
    title: 'page: a branch opens; the page\u2019s own branch cuts a floor log at the same commit',
    skip: needsPage,
    prepare(t) {
        const source = lukerChat(t, 'luker page');
        const name = `${source.chat}__Side`;
        t.path({ changes: copyOf(source, 'Side') }, 'branch', source.file, '--at', '5', '-n', 'Side', '-q');
        return { source, name };
    },
    async run(t, { source, name }) {
        await shows(t, source, name, source.messages.slice(0, 6));
        assert.equal(await slash(t, '/checkpoint-parent'), source.chat, 'back to parent');
        await open(t, source, source.chat);
        // a namespace is cut by the page only where something has it in use
        await t.page.evaluate(async () => {
            await SillyTavern.getContext().createFloorState({ namespace: 'hp' });
        });
        const theirs = await createBranch(t, 5);
        await until('the page has cut the floor log', () => fs.existsSync(sidecar(source, theirs, 'hp__floor_log')));
        same(read(sidecar(source, theirs, 'hp__floor_log')), read(sidecar(source, name, 'hp__floor_log')), 'the floor log of the page\u2019s branch');

        await open(t, source, source.chat);
        await t.page.evaluate(async () => {
            await SillyTavern.getContext().updateChatState('weather', () => ({ wind: 'west' }));
        });
        same(JSON.parse(t.stchat('state', 'get', source.file, 'weather')), { wind: 'west' }, 'what updateChatState wrote');
    },
};

const overwritten = {
    id: 'luker-tab',
    title: 'page: what an open tab does to edits from outside: messages are lost, metadata and state stay',
    skip: needsPage,
    prepare: (t) => lukerChat(t, 'luker tab'),
    async run(t, source) {
        const { file, chat } = source;
        await open(t, source, chat);
        await quiet(file);
        const sync = sidecar(source, chat, 'chat_sync');
        t.stchat({ changes: [file, sync], says: [/Luker/] }, 'edit', file, '3', '--set', 'mes=set from outside');
        t.stchat({ changes: [file, sync], says: [/Luker/] }, 'meta', 'set', file, '--set', 'from_outside=true');
        t.stchat({ changes: [sidecar(source, chat, 'mood')], says: [/Luker/] }, 'state', 'set', file, 'mood', '--set', '/calm=true');
        await slash(t, '/send at=12 from the tab');
        await until('the tab has saved', () => objectsIn(file).at(-1).mes === 'from the tab');
        await quiet(file);
        const [header, ...messages] = objectsIn(file);
        same(messages.map((m) => m.mes), (await state(t)).messages.map((m) => m.mes), 'the texts in the file and in the tab');
        assert.equal(messages[3].mes, source.messages[3].mes, 'the message that stchat had set');
        assert.equal(header.chat_metadata.from_outside, true, 'the metadata that stchat had set');
        same(read(sidecar(source, chat, 'mood')), { calm: true }, 'the state that stchat had set');
        clean(t, file);
    },
};

export const luker = [copies, edits, renames, states, opened, inPage, overwritten];
