// open, new, rename, move and delete: what SillyTavern makes of chats and lorebooks afterwards.
//
// Every call is made, taken back and made again before the page looks: undo has to give back every byte. Afterwards the
// page opens the chats, goes to parent and checkpoint and back, the server lists them, and check finds nothing.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { groupOf, isListed } from '../checks.mjs';
import { same, status } from '../expect.mjs';
import { needsPage, open, quiet, state } from '../tab.mjs';
import { changesBetween, snapshot } from '../watch.mjs';
import { livingChat } from './lorebook.mjs';

const skip = (t) => needsPage(t) ?? (t.atLeast('1.19.0') ? null : 'open, new, rename, move and delete are tested with 1.19');

const folders = (t) => ['chats', 'group chats', 'groups', 'characters', 'worlds'].map((name) => path.join(t.data.root, name));

const chatFile = (source, name) => path.join(source.folder, `${name}.jsonl`);
const cardFile = (t, source) => path.join(t.data.root, 'characters', source.avatar);

/** Runs stchat, takes it back, and runs it again. Gives what it printed. */
function andBack(t, changes, ...args) {
    const before = snapshot(folders(t));
    t.stchat({ changes }, ...args, '-q');
    t.stchat({ changes }, 'undo', '-q', '--data', t.data.root);
    same(changesBetween(before, snapshot(folders(t))), [], `what undo of ${args[0]} leaves changed`);
    return t.stchat({ changes }, ...args, '-q');
}

/** Renames a file and then back, and fails unless every byte is what it was; then renames it for good, with undo tried. */
function rename(t, changes, file, name, ...flags) {
    const before = snapshot(folders(t));
    const { dir, name: old, ext } = path.parse(file);
    t.stchat({ changes }, 'rename', file, name, ...flags, '-q');
    t.stchat({ changes }, 'rename', path.join(dir, name + ext), old, ...flags, '-q');
    same(changesBetween(before, snapshot(folders(t))), [], `what rename of ${old} and back leaves changed`);
    return andBack(t, changes, 'rename', file, name, ...flags);
}

/** Fails where check finds anything, an info too. */
function clean(t, ...files) {
    const found = t.stchat('check', '--format', 'json', '--severity', 'info', ...files).trim().split('\n').map((line) => JSON.parse(line));
    same(found.filter((f) => f.rule).map((f) => `${f.rule} ${f.message}`), [], 'what check finds');
}

/** A chat with a checkpoint at 4, a branch at 6, and a branch of that at 5; all linked. */
function family(t, source) {
    const changes = [source.file, ...(source.groupFile ? [source.groupFile] : [])];
    const copy = (from, kind, at, name) => {
        const file = t.path({ changes: [...new Set([...changes.slice(1), from])], says: [/reload/] }, kind, from, '--at', String(at), '-n', name, '--link');
        return path.basename(file, '.jsonl');
    };
    const point = copy(source.file, 'checkpoint', 4, 'Point');
    const side = copy(source.file, 'branch', 6, 'Side');
    const kid = copy(chatFile(source, side), 'branch', 5, 'Kid');
    return { point, side, kid };
}

/** Runs a slash command in the page; gives what it pipes on. */
const slash = (t, command) => t.page.evaluate(async (command) =>
    (await SillyTavern.getContext().executeSlashCommandsWithOptions(command)).pipe, command);

/** Selects a character as a click on it does: its card says which chat opens. */
async function select(t, source) {
    await t.page.evaluate(async (avatar) => {
        const main = await import('/script.js');
        const groups = await import('/scripts/group-chats.js');
        groups.resetSelectedGroup();
        await main.getCharacters();
        await main.selectCharacterById(String(main.characters.findIndex((c) => c.avatar === avatar)));
    }, source.avatar);
    return state(t);
}

/** Leaves whatever is open, so that the page holds no chat that stchat is about to touch. */
const leave = (t) => t.page.evaluate(async () => {
    const main = await import('/script.js');
    await main.closeCurrentChat();
});

/** Fails unless the page opens a chat with so many messages, and its way back leads to the parent. */
async function leadsBack(t, source, name, count, parent) {
    const seen = await open(t, source, name);
    assert.equal(seen.name, name, 'the chat that the page opens');
    assert.equal(seen.messages.length, count, `messages of ${name}`);
    assert.equal(await slash(t, '/checkpoint-parent'), parent, `the parent of ${name}`);
    await slash(t, '/checkpoint-exit');
    assert.equal((await state(t)).name, parent, `the chat behind "back to parent" of ${name}`);
}

/** Fails unless the open chat has a flag at a message that leads to a checkpoint. */
async function isFlagged(t, at, point) {
    const flag = await t.page.evaluate((at) => document.querySelector(`#chat .mes[mesid="${at}"]`)?.getAttribute('bookmark_link'), at);
    assert.equal(flag, point, `the flag at message ${at}`);
    await slash(t, `/checkpoint-go ${at}`);
    assert.equal((await state(t)).name, point, `the chat behind the flag at message ${at}`);
}

/** The chat that a character's card has open, as the server reads it. */
async function current(t, source) {
    const got = await t.server.post('/api/characters/get', { avatar_url: source.avatar });
    status(got, 200, 'characters/get');
    return got.body.chat;
}

/** Fails unless the server lists just these chats of a character, with their numbers of messages. */
async function lists(t, source, want) {
    for (const [name, count] of Object.entries(want)) {
        await isListed(t, source, name, count);
    }
    const listed = await t.server.post('/api/characters/chats', { avatar_url: source.avatar });
    same(Object.values(listed.body).map((c) => c.file_name.replace(/\.jsonl$/, '')).sort(), Object.keys(want).sort(), 'the list of chats');
}

const opens = {
    id: 'life-open',
    title: 'page: open, the card\u2019s chat',
    skip,
    prepare(t) {
        const source = t.data.solo('life open');
        return { source, ...family(t, source) };
    },
    async run(t, { source, point }) {
        andBack(t, [cardFile(t, source)], 'open', chatFile(source, point));
        assert.equal(await current(t, source), point, 'the card');
        assert.equal((await select(t, source)).name, point, 'the chat that a click on the character opens');
        clean(t, source.folder);
    },
};

const news = {
    id: 'life-new',
    title: 'page: new, of a character and of a group',
    skip,
    prepare(t) {
        return { source: t.data.solo('life new'), group: t.data.group('Life new') };
    },
    async run(t, { source, group }) {
        andBack(t, [chatFile(source, 'Fresh'), cardFile(t, source)], 'new', source.folder, '-n', 'Fresh', '--open');
        const seen = await select(t, source);
        assert.equal(seen.name, 'Fresh', 'the chat that opens');
        same(seen.messages.map((m) => m.mes), [`A greeting of ${source.character}.`], 'its messages');
        clean(t, source.folder);

        andBack(t, [group.groupFile], 'new', group.groupFile, '-n', 'Life fresh');
        clean(t, group.file);
        same((await groupOf(t, group)).chats, [group.chat, 'Life fresh'], 'the group\u2019s chats');
        const greeted = await open(t, group, 'Life fresh');
        assert.equal(greeted.name, 'Life fresh');
        assert.equal(greeted.messages.length, group.members.length, 'each member greets');
        await quiet(group.groupFile);
        assert.ok(fs.existsSync(chatFile(group, 'Life fresh')), 'SillyTavern makes the file');
        clean(t, group.file); // the new file gets its slug from SillyTavern when it is next opened
    },
};

const duplicated = {
    id: 'life-duplicate',
    title: 'page: new for a card that was duplicated; undo after the server saved the same bytes',
    skip,
    prepare(t) {
        return { source: t.data.solo('life duplicate') };
    },
    async run(t, { source }) {
        const made = await t.server.post('/api/characters/duplicate', { avatar_url: source.avatar });
        status(made, 200, 'characters/duplicate');
        const copy = { avatar: made.body.path, folder: path.join(t.data.root, 'chats', path.basename(made.body.path, '.png')) };
        assert.ok(!fs.existsSync(copy.folder), 'SillyTavern makes no folder of chats for a duplicate');
        t.stchat({ changes: [copy.folder, chatFile(copy, 'Fresh'), cardFile(t, copy)] }, 'new', cardFile(t, copy), '-n', 'Fresh', '--open', '-q');
        const seen = await select(t, copy);
        assert.equal(seen.name, 'Fresh', 'the chat that opens');
        same(seen.messages.map((m) => m.mes), [`A greeting of ${source.character}.`], 'its messages');
        clean(t, copy.folder);

        await leave(t);
        await quiet(chatFile(copy, 'Fresh'));
        const before = snapshot(folders(t));
        t.stchat({ changes: [source.file] }, 'message', 'set', source.file, '-a', '3', '--set-string', 'mes=In other words.', '-q');
        const text = fs.readFileSync(source.file, 'utf8');
        const saved = await t.server.post('/api/chats/save', {
            avatar_url: source.avatar, file_name: source.chat, chat: text.split('\n').map((line) => JSON.parse(line)), force: true,
        });
        status(saved, 200, 'chats/save');
        assert.equal(fs.readFileSync(source.file, 'utf8'), text, 'what the server saves');
        t.stchat({ changes: [source.file] }, 'undo', '-q', '--data', t.data.root);
        same(changesBetween(before, snapshot(folders(t))), [], 'what undo leaves changed');
    },
};

const renames = {
    id: 'life-rename',
    title: 'page: rename of the open chat with its family',
    skip,
    prepare(t) {
        const source = t.data.solo('life rename');
        return { source, ...family(t, source) };
    },
    async run(t, { source, point, side, kid }) {
        const to = (name) => name.replace(source.chat, 'A better name');
        const old = [source.chat, point, side, kid];
        const files = [...old, ...old.map(to)].map((name) => chatFile(source, name));
        rename(t, [...files, cardFile(t, source)], source.file, 'A better name', '--family');

        assert.equal(await current(t, source), 'A better name', 'the card');
        await lists(t, source, { 'A better name': 12, [to(point)]: 5, [to(side)]: 7, [to(kid)]: 6 });
        assert.equal((await select(t, source)).name, 'A better name', 'the chat that opens');
        await isFlagged(t, 4, to(point));
        await leadsBack(t, source, to(kid), 6, to(side));
        await leadsBack(t, source, to(side), 7, 'A better name');
        await leadsBack(t, source, to(point), 5, 'A better name');
        clean(t, source.folder);

        // one in the middle alone: its parent and its child follow
        await leave(t);
        rename(t, [to(side), 'Middle', 'A better name', to(kid)].map((name) => chatFile(source, name)), chatFile(source, to(side)), 'Middle');
        await leadsBack(t, source, to(kid), 6, 'Middle');
        await leadsBack(t, source, 'Middle', 7, 'A better name');
        same((await state(t)).messages[6].extra.branches, ['Middle'], 'the branches of message 6');
        clean(t, source.folder);
    },
};

const book = {
    id: 'life-rename-book',
    title: 'page: rename of a lorebook, its timed effects found',
    skip,
    prepare(t) {
        return livingChat(t, 'life book');
    },
    async run(t, { source, book }) {
        const to = path.join(path.dirname(book.file), 'A better book.json');
        rename(t, [book.file, to, source.file], book.file, 'A better book');
        const settings = await t.server.post('/api/settings/get', {});
        assert.ok(settings.body.world_names.includes('A better book'), 'the server does not list the book');
        assert.ok(!settings.body.world_names.includes(book.name), 'the server still lists the old name');
        const seen = await open(t, source, source.chat);
        assert.equal(seen.meta.world_info, 'A better book');
        const hashes = await t.page.evaluate(async () => {
            const world = await import('/scripts/world-info.js');
            return Object.fromEntries((await world.getSortedEntries()).map((e) => [`${e.world}.${e.uid}`, e.hash]));
        });
        for (const [key, effect] of Object.entries(seen.meta.timedWorldInfo.sticky)) {
            assert.ok(key.startsWith('A better book.'), `a timed effect of ${key}`);
            assert.equal(effect.hash, hashes[key], `the effect of ${key} has lost its entry`);
        }
    },
};

const groups = {
    id: 'life-group',
    title: 'page: rename, open and delete in a group',
    skip,
    prepare(t) {
        const source = t.data.group('Life group');
        return { source, ...family(t, source) };
    },
    async run(t, { source, point, side, kid }) {
        const changes = [source.groupFile, chatFile(source, 'Our better name'), source.file, chatFile(source, point), chatFile(source, side)];
        rename(t, changes, source.file, 'Our better name');
        let group = await groupOf(t, source);
        same(group.chats, ['Our better name', point, side, kid], 'the group\u2019s chats');
        assert.equal(group.chat_id, 'Our better name', 'the group\u2019s current chat');
        await leadsBack(t, source, point, 5, 'Our better name');
        await isFlagged(t, 4, point);
        await leadsBack(t, source, side, 7, 'Our better name');
        await quiet(source.groupFile);
        clean(t, source.file.replace(source.chat, 'Our better name'), chatFile(source, point), chatFile(source, side), chatFile(source, kid));

        await leave(t);
        andBack(t, [source.groupFile], 'open', chatFile(source, side));
        assert.equal((await groupOf(t, source)).chat_id, side, 'the group\u2019s current chat');

        andBack(t, [source.groupFile, chatFile(source, side), chatFile(source, 'Our better name'), chatFile(source, kid)], 'delete', chatFile(source, side));
        group = await groupOf(t, source);
        same(group.chats, ['Our better name', point, kid], 'the group\u2019s chats');
        assert.equal(group.chat_id, 'Our better name', 'the group\u2019s current chat');
        await leadsBack(t, source, kid, 6, 'Our better name');
        same((await state(t)).messages[5].extra.branches, [kid], 'the branches of message 5');
        clean(t, chatFile(source, 'Our better name'), chatFile(source, point), chatFile(source, kid));
    },
};

const moves = {
    id: 'life-move',
    title: 'page: move of a family to another character',
    skip,
    prepare(t) {
        const source = t.data.solo('life move');
        const target = t.data.solo('life target');
        return { source, target, ...family(t, source) };
    },
    async run(t, { source, target, point, side, kid }) {
        const names = [source.chat, point, side, kid];
        const files = names.flatMap((name) => [chatFile(source, name), chatFile(target, name)]);
        andBack(t, files, 'move', source.file, target.folder, '--family');
        await lists(t, target, { [target.chat]: 12, [source.chat]: 12, [point]: 5, [side]: 7, [kid]: 6 });
        await leadsBack(t, target, kid, 6, side);
        await leadsBack(t, target, side, 7, source.chat);
        await isFlagged(t, 4, point);
        clean(t, target.folder);
        // who lost all chats starts afresh
        assert.equal((await select(t, source)).messages.length, 1, 'a greeting');
    },
};

const deletes = {
    id: 'life-delete',
    title: 'page: delete, of one in the middle and of the open one',
    skip,
    prepare(t) {
        const source = t.data.solo('life delete');
        return { source, ...family(t, source) };
    },
    async run(t, { source, point, side, kid }) {
        andBack(t, [side, kid, source.chat].map((name) => chatFile(source, name)), 'delete', chatFile(source, side));
        await lists(t, source, { [source.chat]: 12, [point]: 5, [kid]: 6 });
        await leadsBack(t, source, kid, 6, source.chat);
        same((await state(t)).messages[5].extra.branches, [kid], 'the branches of message 5');
        await isFlagged(t, 4, point);
        clean(t, source.folder);

        await leave(t);
        t.stchat({ changes: [cardFile(t, source)] }, 'open', source.file, '-q');
        andBack(t, [source.file, cardFile(t, source), chatFile(source, point), chatFile(source, kid)], 'delete', source.file);
        const left = await current(t, source);
        assert.ok([point, kid].includes(left), `the card opens ${left}`);
        assert.equal((await select(t, source)).name, left, 'the chat that opens');
        assert.ok(!(await state(t)).meta.main_chat, 'no way back is offered');
        clean(t, source.folder);
    },
};

export const lifecycle = [opens, news, duplicated, renames, book, groups, moves, deletes];
