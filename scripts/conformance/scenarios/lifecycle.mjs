// open, new, rename, move and delete: what SillyTavern makes of chats and lorebooks afterwards.
//
// Every call is made, taken back and made again before the page looks: undo and redo give back every byte. Afterwards the
// page opens the chats, goes to parent and checkpoint and back, the server lists them, and check finds nothing.

import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

import { groupOf } from '../checks.mjs';
import { same, sameBytes, status } from '../expect.mjs';
import { cards, lines } from '../fixtures.mjs';
import { andBack, cardFile, chatFile, clean, current, family, folders, isFlagged, leadsBack, leave, lists, rename, select, skip } from '../kin.mjs';
import { open, quiet, state } from '../tab.mjs';
import { changesBetween, snapshot } from '../watch.mjs';
import { livingChat } from './lorebook.mjs';

const opens = {
    id: 'life-open',
    title: 'page: open, the card\u2019s chat',
    skip,
    prepare(t) {
        const source = t.data.solo('life open', { v3: true });
        return { source, ...family(t, source) };
    },
    async run(t, { source, point }) {
        const was = cards(cardFile(t, source));
        andBack(t, [cardFile(t, source)], 'open', chatFile(source, point));
        same(cards(cardFile(t, source)), was.map(([kind, card]) => [kind, { ...card, chat: point }]), 'both cards in the picture');
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
        t.stchat({ changes: [source.file] }, 'edit', source.file, '3', '--set', 'mes=In other words.', '-q');
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
        const source = t.data.solo('life rename', { v3: true });
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

/** Copies that were made after a checkpoint or branch carry its link: all of them, in each file, follow its new name. */
const carried = {
    id: 'life-rename-carried',
    title: 'page: rename of a chat whose link copies of its parent carry',
    skip,
    prepare(t) {
        return [t.data.solo('life carried'), t.data.group('Life carried')].map((source) => ({ source, ...family(t, source) }));
    },
    async run(t, families) {
        for (const { source, point, side, kid } of families) {
            const list = source.groupFile ? [source.groupFile] : [];
            const late = path.basename(t.path({ changes: [source.file, ...list] }, 'branch', source.file, '8', source.id ? 'Late of us' : 'Late', '--link', '-q'), '.jsonl');
            const carry = [source.chat, side, kid, late];
            const was = carry.map((name) => fs.readFileSync(chatFile(source, name), 'utf8'));
            const to = source.id ? 'Our flag' : 'Flag';
            rename(t, [chatFile(source, point), chatFile(source, to), ...carry.map((name) => chatFile(source, name)), ...list], chatFile(source, point), to);
            carry.forEach((name, i) => {
                assert.ok(was[i].includes(`"bookmark_link":"${point}"`), `${name} carries the link`);
                sameBytes(fs.readFileSync(chatFile(source, name)), was[i].replaceAll(`"bookmark_link":"${point}"`, `"bookmark_link":"${to}"`), name);
            });
            for (const name of carry) {
                await open(t, source, name);
                await isFlagged(t, 4, to);
            }
            await leave(t);

            // the branch's link, which only the later copy carries
            const renamed = source.id ? 'Our side' : 'The other side';
            rename(t, [side, renamed, source.chat, kid, late].map((name) => chatFile(source, name)).concat(list), chatFile(source, side), renamed);
            for (const name of [source.chat, late]) {
                same((await open(t, source, name)).messages[6].extra.branches, [renamed], `the branches of message 6 in ${name}`);
            }
            await leave(t);
            clean(t, ...[source.chat, to, renamed, kid, late].map((name) => chatFile(source, name)));
        }
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
    title: 'page: rename, open and rm in a group',
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

        andBack(t, [source.groupFile, chatFile(source, side), chatFile(source, 'Our better name'), chatFile(source, kid)], 'rm', chatFile(source, side));
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
        const source = t.data.solo('life move', { v3: true, loose: true });
        const target = t.data.solo('life target');
        return { source, target, ...family(t, source) };
    },
    async run(t, { source, target, point, side, kid }) {
        const names = [source.chat, point, side, kid];
        const files = names.flatMap((name) => [chatFile(source, name), chatFile(target, name)]);
        const bytes = names.map((name) => fs.readFileSync(chatFile(source, name)));
        andBack(t, files, 'move', source.file, target.folder, '--family');
        names.forEach((name, i) => sameBytes(fs.readFileSync(chatFile(target, name)), bytes[i], `the moved ${name}`));
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
    title: 'page: rm, of one in the middle and of the open one',
    skip,
    prepare(t) {
        const source = t.data.solo('life delete', { v3: true });
        return { source, ...family(t, source) };
    },
    async run(t, { source, point, side, kid }) {
        andBack(t, [side, kid, source.chat].map((name) => chatFile(source, name)), 'rm', chatFile(source, side));
        await lists(t, source, { [source.chat]: 12, [point]: 5, [kid]: 6 });
        await leadsBack(t, source, kid, 6, source.chat);
        same((await state(t)).messages[5].extra.branches, [kid], 'the branches of message 5');
        await isFlagged(t, 4, point);
        clean(t, source.folder);

        await leave(t);
        t.stchat({ changes: [cardFile(t, source)] }, 'open', source.file, '-q');
        andBack(t, [source.file, cardFile(t, source), chatFile(source, point), chatFile(source, kid)], 'rm', source.file);
        const left = await current(t, source);
        assert.ok([point, kid].includes(left), `the card opens ${left}`);
        assert.equal((await select(t, source)).name, left, 'the chat that opens');
        assert.ok(!(await state(t)).meta.main_chat, 'no way back is offered');
        clean(t, source.folder);
    },
};

/** A copy of a chat under another name, with a slug of its own, whose last message is of now. */
function fresh(source, name, meta = {}) {
    const last = { ...source.messages.at(-1), send_date: new Date().toISOString(), mes: `${name}, today.` };
    const integrity = `${crypto.randomUUID()}`;
    fs.writeFileSync(chatFile(source, name), lines({ ...source.header, chat_metadata: { ...source.meta, ...meta, integrity } }, ...source.messages.slice(0, 5), last));
}

const clears = {
    id: 'life-rm-older',
    title: 'page: rm --older-than: the open chat, parents of what stays, and the newest stay',
    skip,
    prepare(t) {
        const source = t.data.solo('life older', { v3: true });
        const copy = (name) => t.path('copy', source.file, '-n', name, '-q');
        ['Old', 'Parent'].forEach(copy);
        const gone = path.basename(t.path({ changes: [chatFile(source, 'Parent')] }, 'branch', chatFile(source, 'Parent'), '6', 'Gone', '--link', '-q'), '.jsonl');
        fresh(source, 'Child', { main_chat: 'Parent' });
        fresh(source, 'Fresh');
        return { source, gone };
    },
    async run(t, { source, gone }) {
        const all = [source.chat, 'Old', 'Parent', gone, 'Child', 'Fresh'];
        const old = (await t.server.post('/api/characters/chats', { avatar_url: source.avatar })).body;
        same(Object.values(old).map((c) => c.file_name.replace(/\.jsonl$/, '')).sort(), [...all].sort(), 'the chats before');
        const printed = andBack(t, [chatFile(source, 'Old'), chatFile(source, gone), chatFile(source, 'Parent')], 'rm', source.folder, '--older-than', '4w', '-y');
        same(printed.trim().split('\n').sort(), ['Old', gone].map((name) => chatFile(source, name)).sort(), 'what rm prints');
        await lists(t, source, { [source.chat]: 12, Parent: 12, Child: 6, Fresh: 6 });
        assert.equal(await current(t, source), source.chat, 'the card');
        same((await open(t, source, 'Parent')).messages[6].extra.branches ?? [], [], 'the branches of message 6');
        await leadsBack(t, source, 'Child', 6, 'Parent');
        await leave(t);

        t.stchat({ changes: [cardFile(t, source)] }, 'open', source.file, '-q'); // the page has the parent open
        andBack(t, [chatFile(source, 'Child'), chatFile(source, 'Parent')], 'rm', source.folder, '--older-than', new Date(Date.now() + 86_400_000).toISOString(), '--keep', '1', '-y');
        await lists(t, source, { [source.chat]: 12, Fresh: 6 });
        assert.equal((await select(t, source)).name, source.chat, 'the chat that opens');
        await leave(t);
        t.stchat('check', '-q', source.folder);
    },
};

export const lifecycle = [opens, news, duplicated, renames, carried, book, groups, moves, deletes, clears];
