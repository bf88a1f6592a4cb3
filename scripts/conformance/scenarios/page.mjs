// The real page in headless Chromium: SillyTavern's own functions make the checkpoint or branch, and its own functions
// open what stchat made.
//
// For comparing bytes, stchat works in a replica: a second user folder with the same chats, copied before the page
// touches anything. What the page adds by chance (the slug) is read from its file and given to stchat.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { bookFile, copyOfGroup, isNamed, reload, written } from '../checks.mjs';
import { entryHash, same, sameBytes, time, uuid } from '../expect.mjs';
import { lines, story } from '../fixtures.mjs';
import { createBranch, createCheckpoint, needsPage, open, quiet, replicate, savePage, state } from '../tab.mjs';
import { livingChat, metaAtFive, stateNotes } from './lorebook.mjs';

const oldTime = time.replace(String.raw`\d{3}ms`, '');

const firstLine = (file) => JSON.parse(fs.readFileSync(file, 'utf8').split('\n')[0]);

/** The flags that make stchat take the page's slug; before 1.19 the page inherits the source's. */
function slugOf(t, file, source) {
    const slug = firstLine(file).chat_metadata.integrity;
    assert.match(slug, uuid);
    assert.equal(slug === source.meta.integrity, !t.atLeast('1.19.0'), 'whether the page makes a new slug');
    return ['--set', `integrity=${slug}`];
}

const branch = {
    id: 'page-branch',
    title: 'page: createBranch, same name and bytes',
    skip: needsPage,
    prepare(t) {
        const source = t.data.solo('page branch', { legacy: t.legacy });
        return { source, replica: replicate(t, source) };
    },
    async run(t, { source, replica }) {
        await open(t, source, source.chat);
        const name = await createBranch(t, 6);
        const theirs = path.join(source.folder, `${name}.jsonl`);
        const mine = t.path('branch', replica.file, '--at', '6', '--naming', t.legacy ? 'classic' : 'sillytavern',
            ...slugOf(t, theirs, source));
        // Up to 1.15 the name holds the second it was made at.
        t.legacy ? isNamed(theirs, new RegExp(`^Branch #6 - ${oldTime}$`)) : isNamed(mine, name);
        sameBytes(fs.readFileSync(mine), fs.readFileSync(theirs), 'the branch');
    },
};

const checkpoint = {
    id: 'page-checkpoint',
    title: 'page: createNewBookmark, same bytes, source too',
    skip: needsPage,
    prepare(t) {
        const source = t.data.solo('page checkpoint', { legacy: t.legacy });
        return { source, replica: replicate(t, source) };
    },
    async run(t, { source, replica }) {
        await open(t, source, source.chat);
        const name = await createCheckpoint(t, 4, 'UI point');
        isNamed(name, t.legacy ? new RegExp(`^UI point - ${oldTime}$`) : 'UI point');
        const theirs = path.join(source.folder, `${name}.jsonl`);
        // The page's name is given whole, so that the link in the source can be compared too.
        const mine = t.path({ changes: [replica.file], says: [reload] }, 'checkpoint', replica.file, '--at', '4',
            '-n', name, '--naming', 'sillytavern', '--link', ...slugOf(t, theirs, source));
        sameBytes(fs.readFileSync(mine), fs.readFileSync(theirs), 'the checkpoint');
        sameBytes(fs.readFileSync(replica.file), fs.readFileSync(source.file), 'the source with its link');

        const made = await createCheckpoint(t, 8, '');
        const numbered = path.join(source.folder, `${made}.jsonl`);
        if (t.legacy) {
            isNamed(numbered, new RegExp(`^Checkpoint #2 - ${oldTime}$`));
        }
        const mineToo = t.path('checkpoint', replica.file, '--at', '8', '--naming', t.legacy ? 'classic' : 'sillytavern',
            ...slugOf(t, numbered, source));
        isNamed(mineToo, t.legacy ? new RegExp(`^Checkpoint #2 - ${time}$`) : made);
        sameBytes(fs.readFileSync(mineToo), fs.readFileSync(numbered), 'the unnamed checkpoint');
    },
};

const swipe = {
    id: 'page-swipe',
    title: 'page: createBranch of a swipe, same bytes',
    skip: (t) => needsPage(t) ?? (t.atLeast('1.17.0') ? null : 'the page branches from a swipe since 1.17'),
    prepare(t) {
        const source = t.data.solo('page swipe', {});
        return { source, replica: replicate(t, source) };
    },
    async run(t, { source, replica }) {
        await open(t, source, source.chat);
        const name = await createBranch(t, 6, { swipeId: 2 });
        const theirs = path.join(source.folder, `${name}.jsonl`);
        const mine = t.path('branch', replica.file, '--at', '6', '--swipe', '3', '--naming', 'sillytavern',
            ...slugOf(t, theirs, source));
        isNamed(mine, name);
        sameBytes(fs.readFileSync(mine), fs.readFileSync(theirs), 'the branch');
    },
};

/** The page fills what swipe_info lacks as it shows a message (ensureSwipes in public/script.js). */
const shortInfo = {
    id: 'page-swipe-info',
    title: 'page: createBranch of a swipe without its swipe_info, same bytes',
    skip: swipe.skip,
    prepare(t) {
        const messages = story(12, { character: 'page swipe info' });
        // The page also copies what a message says of its chosen swipe into swipe_info: here both say the same.
        for (const message of messages.filter((m) => m.swipe_info)) {
            const { gen_started, gen_finished } = message.swipe_info[0];
            Object.assign(message, { gen_started, gen_finished });
        }
        messages[4].swipe_info.length = 1;
        messages[6].swipe_info[2] = null;
        delete messages[8].swipe_info;
        const source = t.data.solo('page swipe info', { messages });
        return { source, replica: replicate(t, source) };
    },
    async run(t, { source, replica }) {
        for (const at of [4, 6, 8]) {
            await open(t, source, source.chat);
            const name = await createBranch(t, at, { swipeId: 2 });
            const theirs = path.join(source.folder, `${name}.jsonl`);
            const mine = t.path('branch', replica.file, '--at', String(at), '--swipe', '3', '--naming', 'sillytavern',
                ...slugOf(t, theirs, source));
            // stchat leaves the messages in front of it as they are.
            const last = (file) => fs.readFileSync(file, 'utf8').split('\n').at(-1);
            sameBytes(last(mine), last(theirs), `message ${at} of the branch`);
        }
    },
};

const group = {
    id: 'page-group',
    title: 'page: branch and checkpoint in a group, same bytes',
    skip: needsPage,
    prepare(t) {
        const source = t.data.group('Page group', { old: t.legacy });
        return { source, replica: replicate(t, source) };
    },
    async run(t, { source, replica }) {
        await open(t, source, source.chat);
        const names = [await createBranch(t, 5), await createCheckpoint(t, 7, 'UI group point')];
        const theirs = names.map((name) => path.join(source.folder, `${name}.jsonl`));
        await quiet(source.groupFile);
        const theirGroup = JSON.parse(fs.readFileSync(source.groupFile, 'utf8'));
        const slugs = names.map((name, i) => t.legacy
            ? ['--set', `integrity=${theirGroup.past_metadata[name].integrity}`]
            : slugOf(t, theirs[i], source));
        // stchat's copies have the page's names, so that the group files can be compared.
        const mine = [
            copyOfGroup(t, 'branch', replica, '--at', '5', '-n', names[0], '--naming', 'sillytavern', ...slugs[0])(),
            copyOfGroup(t, 'checkpoint', replica, '--at', '7', '-n', names[1], '--naming', 'sillytavern', ...slugs[1])(),
        ];
        // Without a name: the number the page gives, and the one stchat gives.
        const unnamed = await createCheckpoint(t, 3, '');
        await quiet(source.groupFile);
        const mineToo = copyOfGroup(t, 'checkpoint', replica, '--at', '3', '--naming', t.legacy ? 'classic' : 'sillytavern')();
        if (t.legacy) {
            isNamed(path.join(source.folder, unnamed), new RegExp(`^Checkpoint #3 - ${oldTime}$`));
            isNamed(mineToo, new RegExp(`^Checkpoint #3 - ${time}$`));
        } else {
            isNamed(mineToo, unnamed);
        }

        const myGroup = JSON.parse(fs.readFileSync(replica.groupFile, 'utf8'));
        myGroup.chats.pop();
        same(myGroup.chats, theirGroup.chats, 'the group\u2019s chats');
        for (const [i, name] of names.entries()) {
            if (t.legacy) {
                same(myGroup.past_metadata?.[name], theirGroup.past_metadata[name], `past_metadata of ${name}`);
            }
            if (i === 1) {
                // The page has put the branch's name into message 5 of its memory before it made the checkpoint.
                const rows = fs.readFileSync(theirs[1], 'utf8').split('\n');
                const at = rows.length - 3;
                const message = JSON.parse(rows[at]);
                assert.deepEqual(message.extra.branches, [names[0]]);
                delete message.extra.branches;
                rows[at] = JSON.stringify(message);
                sameBytes(fs.readFileSync(mine[1]), rows.join('\n'), 'the checkpoint');
            } else {
                sameBytes(fs.readFileSync(mine[0]), fs.readFileSync(theirs[0]), 'the branch');
            }
        }
    },
};

const opened = {
    id: 'page-open',
    title: 'page: opens, saves and leaves stchat\u2019s checkpoint',
    skip: needsPage,
    prepare(t) {
        const source = t.data.solo('page open', { legacy: t.legacy });
        const flags = ['--naming', t.legacy ? 'classic' : 'suffix'];
        const file = t.path({ changes: [source.file], says: [reload] }, 'checkpoint', source.file, '--at', '5',
            '-n', 'Seen', '--link', ...flags);
        return { source, file };
    },
    async run(t, { source, file }) {
        const chat = written(file, {
            header: source.header, messages: source.messages.slice(0, 6), mainChat: source.chat,
        });
        const main = await open(t, source, source.chat);
        assert.equal(main.messages[5].extra.bookmark_link, chat.name, 'the link in the source');

        const seen = await open(t, source, chat.name);
        assert.equal(seen.name, chat.name);
        same(seen.messages, chat.messages, 'the page\u2019s messages');
        same(seen.meta, chat.header.chat_metadata, 'the page\u2019s metadata');
        await savePage(t);
        same((await state(t)).popups, [], 'popups after saving');
        sameBytes(fs.readFileSync(file), lines(chat.header, ...chat.messages), 'the file saved by the page');

        await t.page.evaluate(() => SillyTavern.getContext().executeSlashCommandsWithOptions('/checkpoint-exit'));
        assert.equal((await state(t)).name, source.chat, 'the chat after going back to the main chat');
    },
};

const openedGroup = {
    id: 'page-open-group',
    title: 'page: opens and saves stchat\u2019s group checkpoint',
    skip: needsPage,
    prepare(t) {
        const source = t.data.group('Page open group', { old: t.legacy });
        const flags = ['--at', '5', '-n', 'Seen in a group', '--naming', 'sillytavern'];
        return { source, copy: copyOfGroup(t, 'checkpoint', source, ...flags) };
    },
    async run(t, { source, copy }) {
        const file = copy();
        const messages = source.messages.slice(0, 6);
        await t.page.evaluate(async () => (await import('/scripts/group-chats.js')).resetSelectedGroup());
        const before = fs.readFileSync(file);
        const seen = await open(t, source, 'Seen in a group');
        assert.equal(seen.name, 'Seen in a group');
        same(seen.messages, messages, 'the page\u2019s messages');
        const meta = { ...source.meta, main_chat: source.chat, integrity: seen.meta.integrity };
        same(seen.meta, meta, 'the page\u2019s metadata');
        await savePage(t);
        same((await state(t)).popups, [], 'popups after saving');
        sameBytes(fs.readFileSync(file), before, 'the file saved by the page');
    },
};

const isolated = {
    id: 'page-isolate',
    title: 'page: finds the clone\u2019s entries by their hashes',
    skip: needsPage,
    prepare(t) {
        const living = livingChat(t, 'page isolated');
        const clone = bookFile(t, `${living.book.name}__CP_Alone too`);
        const file = t.path({ changes: [clone], says: stateNotes }, 'checkpoint', living.source.file, '--at', '5',
            '-n', 'Alone too', '--naming', 'sillytavern', '--isolate', '-v');
        return { living, file };
    },
    async run(t, { living, file }) {
        const { source, book } = living;
        const clone = `${book.name}__CP_Alone too`;
        const chat = written(file, {
            header: source.header, meta: metaAtFive(living, 'Alone too', clone),
            messages: source.messages.slice(0, 6), mainChat: source.chat,
        });
        const seen = await open(t, source, chat.name);
        same(seen.meta, chat.header.chat_metadata, 'the page\u2019s metadata');
        const hashes = await t.page.evaluate(async () => {
            const world = await import('/scripts/world-info.js');
            const entries = await world.getSortedEntries();
            return Object.fromEntries(entries.map((e) => [`${e.world}.${e.uid}`, e.hash]));
        });
        same(hashes, Object.fromEntries([1, 3, 7].map((uid) => [
            `${clone}.${uid}`, entryHash(book.book.entries[uid], clone),
        ])), 'the entries the page finds');
        for (const [key, effect] of Object.entries(seen.meta.timedWorldInfo.sticky)) {
            assert.equal(effect.hash, hashes[key], `the sticky effect of ${key} has lost its entry`);
        }
    },
};

export const page = [branch, checkpoint, swipe, shortInfo, group, opened, openedGroup, isolated];
