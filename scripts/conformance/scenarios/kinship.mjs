// Who came from whom: what tree tells is where the page's ways lead; kin that is cut apart; a group's move; pins.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { groupOf } from '../checks.mjs';
import { same, sameBytes } from '../expect.mjs';
import { andBack, cardFile, chatFile, clean, family, isFlagged, leadsBack, leave, lists, shown, shows, skip, slash } from '../kin.mjs';
import { open, quiet, reload, state, whileClosed } from '../tab.mjs';
import { until } from '../waits.mjs';

const tree = {
    id: 'kin-tree',
    title: 'page: tree tells where back to parent, flags and branches lead',
    skip,
    prepare(t) {
        return [t.data.solo('kin tree', { loose: true }), t.data.group('Kin tree')].map((source) => {
            const { point, kid } = family(t, source);
            // One that its parent does not name, and one below the checkpoint.
            const changes = source.groupFile ? [source.groupFile] : [];
            const says = source.groupFile ? [/reload/] : [];
            t.path({ changes, says }, 'branch', chatFile(source, kid), '--at', '3', '-n', 'Unnamed');
            t.path({ changes, says }, 'checkpoint', chatFile(source, point), '--at', '2', '-n', 'Deep');
            return source;
        });
    },
    async run(t, sources) {
        for (const source of sources) {
            const told = t.stchat('tree', source.folder, '--json', '--all').trim().split('\n').map((line) => JSON.parse(line))
                .filter((row) => row.path && (!source.id || source.group.name === row.owner));
            assert.equal(told.length, 6, `chats in the tree of ${source.folder}`);
            for (const row of told) {
                same([...row.children].sort(), told.filter((kid) => kid.parent === row.name).map((kid) => kid.name).sort(), `the children of ${row.name}`);
                if (!row.parent) {
                    const seen = await open(t, source, row.name);
                    assert.equal(seen.meta.main_chat, undefined, `the way back of ${row.name}`);
                    assert.equal(seen.messages.length, row.messages, `messages of ${row.name}`);
                    continue;
                }
                await leadsBack(t, source, row.name, row.messages, row.parent);
                const above = (await state(t)).messages;
                const { messages } = await open(t, source, row.name);
                same(messages.slice(0, row.shared).map(shown), above.slice(0, row.shared).map(shown), `what ${row.name} shares with its parent`);
                assert.equal(messages.length, row.shared + row.own, `shared and own messages of ${row.name}`);
                assert.equal(row.at, row.shared - 1, `where ${row.name} parts`);
                if (row.at_link === null) {
                    assert.ok(!JSON.stringify(above).includes(JSON.stringify(row.name)), `${row.parent} names ${row.name}`);
                } else if (row.role === 'checkpoint') {
                    await open(t, source, row.parent);
                    await isFlagged(t, row.at_link, row.name);
                } else {
                    assert.ok(above[row.at_link].extra.branches.includes(row.name), `the link to ${row.name}`);
                }
            }
        }
    },
};

const cut = {
    id: 'kin-cut',
    title: 'page: move --cut, both sides without each other',
    skip,
    prepare(t) {
        const source = t.data.solo('kin cut', { loose: true });
        const target = t.data.solo('kin cut target');
        const plain = fs.readFileSync(source.file);
        const flags = ['--naming', 'sillytavern', '--link'];
        const side = t.path({ changes: [source.file], says: [/reload/] }, 'branch', source.file, '--at', '6', '-n', 'Cut side', ...flags);
        const alone = fs.readFileSync(side);
        const kid = t.path({ changes: [side], says: [/reload/] }, 'checkpoint', side, '--at', '4', '-n', 'Cut kid', ...flags);
        return { source, target, plain, side, alone, kid };
    },
    async run(t, { source, target, plain, side, alone, kid }) {
        const there = chatFile(target, 'Cut side');
        const young = fs.readFileSync(kid);
        andBack(t, [source.file, side, kid, there], 'move', side, target.folder, '--cut');
        sameBytes(fs.readFileSync(source.file), plain, 'the parent that stayed');
        // But for the parent's name both are as they were when they had no links.
        const [from, to] = [alone, fs.readFileSync(there)].map((bytes) => bytes.toString().split('\n'));
        sameBytes(to.slice(1).join('\n'), from.slice(1).join('\n'), 'the messages that moved');
        const metadata = (line) => {
            const { main_chat, ...rest } = JSON.parse(line).chat_metadata;
            return rest;
        };
        same(JSON.parse(to[0]).chat_metadata, metadata(from[0]), 'the metadata that moved');
        const [first, ...rest] = young.toString().split('\n');
        const [now, ...messages] = fs.readFileSync(kid, 'utf8').split('\n');
        same(JSON.parse(now).chat_metadata, metadata(first), 'the metadata of the kid');
        sameBytes(messages.join('\n'), rest.join('\n'), 'the messages of the kid');

        await lists(t, source, { [source.chat]: 12, 'Cut kid': 5 });
        await lists(t, target, { [target.chat]: 12, 'Cut side': 7 });
        for (const [of, name, count] of [[source, source.chat, 12], [source, 'Cut kid', 5], [target, 'Cut side', 7]]) {
            const seen = await shows(t, of, name, source.messages.slice(0, count));
            assert.equal(seen.meta.main_chat, undefined, `the way back of ${name}`);
            assert.equal(await slash(t, '/checkpoint-list links=true'), '[]', `the flags of ${name}`);
            assert.ok(seen.messages.every((m) => !m.extra.branches), `the branches of ${name}`);
        }
        await leave(t);
        clean(t, source.folder, target.folder);
    },
};

const groupMove = {
    id: 'kin-group-move',
    title: 'page: move of a family to another group',
    skip,
    prepare(t) {
        const source = t.data.group('Kin from');
        const target = t.data.group('Kin to');
        const point = t.path({ changes: [source.groupFile, source.file], says: [/reload/] }, 'checkpoint', source.file, '--at', '4', '-n', 'Kin point', '--link');
        return { source, target, names: [source.chat, path.basename(point, '.jsonl')] };
    },
    async run(t, { source, target, names }) {
        const [chat, point] = names;
        const bytes = names.map((name) => fs.readFileSync(chatFile(source, name)));
        const list = fs.readFileSync(target.groupFile, 'utf8');
        andBack(t, [source.groupFile, target.groupFile], 'move', source.file, target.groupFile, '--family');
        names.forEach((name, i) => sameBytes(fs.readFileSync(chatFile(source, name)), bytes[i], `the moved ${name}`));
        const moved = (await groupOf(t, target)).chats;
        same(moved, [target.chat, ...names], 'the chats of the group that got them');
        const left = await groupOf(t, source);
        assert.equal(left.chats.length, 1, 'a group that lost all its chats is given the name of a new one');
        assert.equal(left.chat_id, left.chats[0], 'its current chat');
        assert.ok(!fs.existsSync(chatFile(source, left.chat_id)), 'a file before it is greeted in');
        sameBytes(fs.readFileSync(target.groupFile), list.replace(`[\n        "${target.chat}"\n`, `[\n        "${target.chat}",\n        "${chat}",\n        "${point}"\n`), 'the group file');
        await leadsBack(t, target, point, 5, chat);
        await isFlagged(t, 4, point);
        const seen = await open(t, target, chat);
        same(seen.messages.map(shown), source.messages.map(shown), `the messages of ${chat} in the page`);
        await quiet(target.groupFile);
        clean(t, ...names.map((name) => chatFile(source, name)));
        const greeted = await open(t, source, left.chat_id);
        assert.equal(greeted.messages.length, source.members.length, 'each member of the other group greets');
        await leave(t);
        await quiet(source.groupFile);
    },
};

/** The two chats that the page's welcome screen shows as pinned, one after the other: names and owners, sorted. */
const pinned = (t) => until('the welcome screen shows both pinned chats', async () => {
    const list = await t.page.evaluate(() => [...document.querySelectorAll('.recentChat:has(.recentChatPinned)')]
        .map((e) => `${e.dataset.avatar || e.dataset.group}: ${e.dataset.file}`));
    return list.length === 2 && list.sort();
});

const pins = {
    id: 'kin-pins',
    title: 'page: chats that are pinned stay so when renamed and moved',
    skip,
    prepare(t) {
        return { source: t.data.solo('Pinned'), target: t.data.solo('Pin target'), group: t.data.group('Pinned group') };
    },
    async run(t, { source, target, group }) {
        const all = {
            [`char_${source.avatar}_${source.chat}.jsonl`]: { avatar: source.avatar, file_name: `${source.chat}.jsonl` },
            [`group_${group.id}_${group.chat}.jsonl`]: { group: group.id, file_name: `${group.chat}.jsonl` },
        };
        const text = JSON.stringify(all);
        await leave(t);
        await t.page.evaluate((text) => SillyTavern.getContext().accountStorage.setItem('pinnedChats', text), text);
        const settings = path.join(t.data.root, 'settings.json');
        await until('the page saves its pins', () => JSON.parse(fs.readFileSync(settings, 'utf8')).accountStorage.pinnedChats === text);
        await quiet(settings);
        await reload(t);
        same(await pinned(t), [`${source.avatar}: ${source.chat}`, `${group.id}: ${group.chat}`].sort(), 'what is pinned');

        await whileClosed(t, async () => {
            await quiet(settings);
            andBack(t, [source.file, chatFile(source, 'Anew'), cardFile(t, source)], 'rename', source.file, 'Anew');
            andBack(t, [group.file, chatFile(group, 'Crew anew'), group.groupFile], 'rename', group.file, 'Crew anew');
        });
        same(await pinned(t), [`${source.avatar}: Anew`, `${group.id}: Crew anew`].sort(), 'what is pinned after the renames');
        await whileClosed(t, async () => {
            await quiet(settings);
            andBack(t, [chatFile(source, 'Anew'), chatFile(target, 'Anew')], 'move', chatFile(source, 'Anew'), target.folder);
        });
        same(await pinned(t), [`${target.avatar}: Anew`, `${group.id}: Crew anew`].sort(), 'what is pinned after the move');
        await quiet(settings);
        await t.page.evaluate(() => SillyTavern.getContext().accountStorage.removeItem('pinnedChats'));
    },
};

export const kinship = [tree, cut, groupMove, pins];
