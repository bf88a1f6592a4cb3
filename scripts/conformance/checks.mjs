// What every chat that stchat wrote has to stand, asked of the server as its own page asks.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { lines } from './fixtures.mjs';
import { named, NotHere, same, sameBytes, status, uuid } from './expect.mjs';

/** What is said where a file that a tab may have open was edited. */
export const reload = /reload/;

/** The file of a lorebook by its name. */
export const bookFile = (t, name) => path.join(t.data.root, 'worlds', `${name}.json`);

const bare = (name) => String(name).replace(/\.jsonl$/, '');

/** A slug that no chat here has. */
const foreignSlug = 'ffffffff-ffff-4fff-8fff-ffffffffffff';

/**
 * Reads a new file and checks it byte for byte against what it must be.
 * @param {string} file
 * @param {{header: object, messages: object[], mainChat: string, slug?: string|null, meta?: object}} want header: the
 *     source's; slug: what `integrity` must be, absent for a fresh one, null for none; meta: what the source's metadata
 *     have become, absent if they stayed
 * @returns {{name, file, header, messages}} the chat as expected, with the slug it has
 */
export function written(file, { header, messages, mainChat, slug, meta }) {
    const bytes = fs.readFileSync(file, 'utf8');
    const first = JSON.parse(bytes.split('\n')[0]);
    const found = first.chat_metadata?.integrity;
    if (slug === undefined) {
        assert.match(String(found), uuid, 'integrity is not a UUID v4');
        assert.notEqual(found, header.chat_metadata.integrity, 'integrity is the source\u2019s');
    }
    const integrity = slug === undefined ? found : slug;
    // {...current, main_chat, integrity}, in the order SillyTavern merges: a key that is there keeps its place.
    const full = { ...(meta ?? header.chat_metadata), main_chat: mainChat, ...(integrity ? { integrity } : {}) };
    const want = { ...header, chat_metadata: full };
    sameBytes(bytes, lines(want, ...messages), 'the new file');
    return { name: bare(path.basename(file)), file, header: want, messages };
}

/** The chats a character has, by each of the version's listings: name -> {chat, search, recent} counts of messages. */
async function listings(t, source) {
    const listed = await t.server.post('/api/characters/chats', { avatar_url: source.avatar });
    status(listed, 200, 'characters/chats');
    const found = await t.server.post('/api/chats/search', { query: '', avatar_url: source.avatar });
    status(found, 200, 'chats/search');
    const out = {
        list: new Map(Object.values(listed.body).map((c) => [bare(c.file_name), c.chat_items])),
        search: new Map(found.body.map((c) => [bare(c.file_name), c.message_count])),
    };
    if (t.atLeast('1.13.0')) {
        const recent = await t.server.post('/api/chats/recent', { max: 100000 });
        status(recent, 200, 'chats/recent');
        out.recent = new Map(recent.body.filter((c) => c.avatar === source.avatar)
            .map((c) => [bare(c.file_name), c.chat_items]));
    }
    return out;
}

/** Fails unless every listing of the character has the chat, with its number of messages. */
export async function isListed(t, source, name, count) {
    for (const [which, chats] of Object.entries(await listings(t, source))) {
        assert.ok(chats.has(name), `${which} does not have ${JSON.stringify(name)}`);
        assert.equal(chats.get(name), count, `${which} counts ${chats.get(name)} messages of ${name}, not ${count}`);
    }
}

/** Fails unless the API gives exactly these objects for a chat of the character. */
export async function opensAs(t, source, name, objects) {
    const got = await t.server.post('/api/chats/get', {
        ch_name: source.character, file_name: name, avatar_url: source.avatar,
    });
    status(got, 200, `chats/get ${name}`);
    assert.ok(Array.isArray(got.body) && got.body.length > 0, `chats/get ${name} gives no messages`);
    same(got.body, objects, `chats/get ${name}`);
    return got.body;
}

/** Saves a chat of the character as the page does. */
export function save(t, source, name, objects) {
    return t.server.post('/api/chats/save', {
        ch_name: source.character, file_name: name, avatar_url: source.avatar, chat: objects, force: false,
    });
}

/**
 * The whole life of a new solo chat in the server: it is listed, opens, is saved again unchanged, refuses a save with
 * another chat's slug, and its main_chat opens.
 */
export async function lives(t, source, chat) {
    await isListed(t, source, chat.name, chat.messages.length);
    const objects = [chat.header, ...chat.messages];
    const loaded = await opensAs(t, source, chat.name, objects);

    status(await save(t, source, chat.name, loaded), 200, 'saving it again');
    sameBytes(fs.readFileSync(chat.file), lines(...objects), 'the file saved again');

    if (chat.header.chat_metadata.integrity) {
        const foreign = structuredClone(loaded);
        foreign[0].chat_metadata.integrity = foreignSlug;
        const refused = await save(t, source, chat.name, foreign);
        status(refused, 400, 'saving with a wrong slug');
        same(refused.body, { error: 'integrity' }, 'saving with a wrong slug');
        sameBytes(fs.readFileSync(chat.file), lines(...objects), 'the file after a refused save');
    }

    const { main_chat: parent } = chat.header.chat_metadata;
    if (parent) {
        const back = await t.server.post('/api/chats/get', {
            ch_name: source.character, file_name: parent, avatar_url: source.avatar,
        });
        assert.ok(Array.isArray(back.body) && back.body.length > chat.messages.length,
            `back to main chat: ${JSON.stringify(parent)} does not open`);
    }
}

/** The group as the server lists it. */
export async function groupOf(t, source) {
    const all = await t.server.post('/api/groups/all', {});
    status(all, 200, 'groups/all');
    const group = all.body.find((g) => g.id === source.id);
    assert.ok(group, `groups/all does not have ${source.id}`);
    return group;
}

/** Fails unless the API gives exactly these objects for a group chat. */
export async function groupOpensAs(t, name, objects) {
    const got = await t.server.post('/api/chats/group/get', { id: name });
    status(got, 200, `chats/group/get ${name}`);
    same(got.body, objects, `chats/group/get ${name}`);
    return got.body;
}

/** The whole life of a new group chat with a header (1.16 and later). */
export async function groupLives(t, source, chat) {
    const group = await groupOf(t, source);
    assert.ok(group.chats.includes(chat.name), `the group does not list ${JSON.stringify(chat.name)}`);
    assert.equal(group.chat_id, source.chat, 'the group\u2019s current chat moved');

    const found = await t.server.post('/api/chats/search', { query: '', group_id: source.id });
    status(found, 200, 'chats/search');
    const hit = found.body.find((c) => bare(c.file_name) === chat.name);
    assert.ok(hit, `search does not have ${JSON.stringify(chat.name)}`);
    assert.equal(hit.message_count, chat.messages.length, `search counts ${hit.message_count} messages`);

    const objects = [chat.header, ...chat.messages];
    const loaded = await groupOpensAs(t, chat.name, objects);
    status(await t.server.post('/api/chats/group/save', { id: chat.name, chat: loaded }), 200, 'saving it again');
    sameBytes(fs.readFileSync(chat.file), lines(...objects), 'the file saved again');

    const foreign = structuredClone(loaded);
    foreign[0].chat_metadata.integrity = foreignSlug;
    const refused = await t.server.post('/api/chats/group/save', { id: chat.name, chat: foreign });
    status(refused, 400, 'saving with a wrong slug');
    same(refused.body, { error: 'integrity' }, 'saving with a wrong slug');

    const back = await t.server.post('/api/chats/group/get', { id: chat.header.chat_metadata.main_chat });
    assert.ok(back.body.length > chat.messages.length, 'back to main chat: it does not open');
    assert.ok(group.chats.includes(chat.header.chat_metadata.main_chat), 'back to main chat: the group does not list it');
}

/** Fails unless a new file's name is as it must be. */
export function isNamed(file, want) {
    named(bare(path.basename(file)), want, 'the name');
}

/**
 * Copies a group chat that may have the layout before 1.16. Where stchat gives the copy a header all the same, no older
 * version can open it: then stchat has to say so, and there is nothing more to prove in that version.
 * @param {string} kind checkpoint or branch
 * @param {{file: string, groupFile: string, old: boolean}} source
 * @returns {() => string} gives the copy's path, or ends the scenario
 */
export function copyOfGroup(t, kind, source, ...flags) {
    const want = { changes: [source.groupFile], says: source.old ? [reload, /1\.16/] : [reload] };
    const file = t.path(want, kind, source.file, ...flags);
    return () => {
        if (t.legacy && JSON.parse(fs.readFileSync(file, 'utf8').split('\n')[0]).chat_metadata) {
            throw new NotHere('stchat writes group chats as 1.16 and later do, and warns that older ones cannot open them');
        }
        return file;
    };
}
