// copy and join: chats that are on their own, of a character and of a group, which the page goes on with.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { groupOf } from '../checks.mjs';
import { same, sameBytes, uuid } from '../expect.mjs';
import { lines, story } from '../fixtures.mjs';
import { andBack, chatFile, clean, family, leave, lists, saves, shows, skip, slash } from '../kin.mjs';
import { open, quiet, state } from '../tab.mjs';
import { until } from '../waits.mjs';
import { livingChat } from './lorebook.mjs';

const parsed = (file) => fs.readFileSync(file, 'utf8').split('\n').map((line) => JSON.parse(line));

/** A message without the links that a copy leaves behind. */
function unlinked(message) {
    const { bookmark_link, branches, ...extra } = message.extra;
    return { ...message, extra };
}

/** Fails unless a chat has these lines, and a slug that is not the source's. */
function holds(file, source, meta, messages) {
    const { integrity } = parsed(file)[0].chat_metadata;
    assert.match(String(integrity), uuid, 'integrity is not a UUID v4');
    assert.notEqual(integrity, source.meta.integrity, 'the slug is the source\u2019s');
    sameBytes(fs.readFileSync(file), lines({ ...source.header, chat_metadata: { ...meta, integrity } }, ...messages), file);
}

/**
 * Opens a chat in the page, adds a message of the user's and a reply, and saves: every line that was there is as it was.
 * Then it swipes.
 */
async function goesOn(t, source, name, speaker) {
    const file = chatFile(source, name);
    const before = fs.readFileSync(file, 'utf8').split('\n');
    const messages = before.slice(1).map((line) => JSON.parse(line));
    const seen = await shows(t, source, name, messages);
    same(seen.meta, JSON.parse(before[0]).chat_metadata, 'the page\u2019s metadata');
    await slash(t, '/send compact=true And what then?');
    await slash(t, `/sendas compact=true name="${speaker}" Then the tide came.`);
    await saves(t);
    await quiet(file);
    const after = fs.readFileSync(file, 'utf8').split('\n');
    sameBytes(after.slice(0, before.length).join('\n'), before.join('\n'), `what was in ${name} before the page went on`);
    same(after.slice(before.length).map((line) => JSON.parse(line).mes), ['And what then?', 'Then the tide came.'], 'what the page added');

    const at = messages.findIndex((m) => m.swipes?.length > 1);
    await t.page.evaluate(async (at) => {
        await (await import('/script.js')).swipe(null, 'right', { source: 'swipe_picker', forceMesId: at, forceSwipeId: 1 });
    }, at);
    assert.equal((await state(t)).messages[at].mes, messages[at].swipes[1], 'the swipe that the page shows');
    await leave(t);
    await quiet(source.groupFile ?? file); // the page saves a group later
}

const copies = {
    id: 'copy',
    title: 'page: copy within a character, to a group and back; goes on there',
    skip,
    prepare(t) {
        const messages = story(12, { character: 'copied' });
        messages.splice(4, 0, { name: 'Narrator', is_user: false, is_system: false, send_date: messages[3].send_date, mes: 'Night falls.', extra: { type: 'narrator', isSmallSys: true } });
        const source = t.data.solo('copied', { messages });
        const { side } = family(t, source);
        return { source, group: t.data.group('Copied group'), side };
    },
    async run(t, { source, group, side }) {
        const from = chatFile(source, side);
        const before = fs.readFileSync(from);
        const [header, ...all] = parsed(from);
        const { main_chat: parent, ...meta } = header.chat_metadata;
        assert.equal(parent, source.chat, 'the source has a parent');
        const messages = all.map(unlinked);
        const one = { ...source, meta: header.chat_metadata };

        andBack(t, [chatFile(source, 'Apart')], 'copy', from, 'Apart');
        holds(chatFile(source, 'Apart'), one, meta, messages);

        andBack(t, [chatFile(group, 'Among others'), group.groupFile], 'copy', from, 'Copied group', '-n', 'Among others');
        const { chats, chat_id: current } = await groupOf(t, group);
        same([chats, current], [[group.chat, 'Among others'], group.chat], 'the group\u2019s chats, and the one that is open');
        const among = parsed(chatFile(group, 'Among others')).slice(1);

        andBack(t, [chatFile(source, 'Back again')], 'copy', chatFile(group, 'Among others'), 'copied', '-n', 'Back again');
        holds(chatFile(source, 'Back again'), one, meta, messages);
        sameBytes(fs.readFileSync(from), before, 'the chat that was copied');
        clean(t, source.folder);

        // The page's own way from a character to a group, which makes a group of its own.
        await open(t, source, 'Apart');
        await t.page.evaluate(async () => {
            globalThis.converts = (await import('/scripts/bookmarks.js')).convertSoloToGroupChat();
        });
        await until('the page asks whether to convert', () => t.page.evaluate(() => document.querySelector('dialog[open] .popup-button-ok')));
        await t.page.evaluate(async () => {
            document.querySelector('dialog[open] .popup-button-ok').click();
            await globalThis.converts;
        });
        const { name } = await state(t);
        const theirs = parsed(chatFile(group, name)).slice(1);
        const settled = (list) => {
            const first = list.find((m) => m.extra?.gen_id).extra.gen_id;
            return list.map((m) => JSON.stringify(m, (key, value) => (key === 'gen_id' ? value - first : value)));
        };
        same(settled(among), settled(theirs), 'the messages of the group\u2019s chat, and those that the page converts');
        await leave(t);

        await goesOn(t, source, 'Apart', 'copied');
        await goesOn(t, group, 'Among others', group.members[0]);
        await goesOn(t, source, 'Back again', 'copied');
    },
};

const joins = {
    id: 'join',
    title: 'page: join of chats of a character, of another and of a group; goes on there',
    skip,
    prepare(t) {
        const { source } = livingChat(t, 'joined');
        const side = path.basename(t.path({ changes: [source.file] }, 'branch', source.file, '6', 'Side', '--link', '-q'), '.jsonl');
        const other = t.data.solo('joined too', { count: 6 });
        t.path({ changes: [other.file] }, 'branch', other.file, '2', 'Elsewhere', '--link', '-q');
        return { source, side, other, group: t.data.group('Joined group') };
    },
    async run(t, { source, side, other, group }) {
        const files = [source.file, chatFile(source, side), other.file, group.file];
        const before = files.map((file) => fs.readFileSync(file));
        const [[header, ...first], [, ...second], [, ...third]] = files.map(parsed);
        // A link to a chat that this character does not have stays behind.
        const want = [...first, ...second, ...third.map(unlinked)];

        andBack(t, [chatFile(source, 'All of it')], 'join', ...files.slice(0, 3), '-n', 'All of it');
        const file = chatFile(source, 'All of it');
        const [made, ...messages] = parsed(file);
        same(messages, want, 'the messages');
        const recap = { ...header.chat_metadata.auto_recap_running_scene_recaps, chat_id: 'All of it' };
        same(made.chat_metadata, { ...header.chat_metadata, auto_recap_running_scene_recaps: recap, integrity: made.chat_metadata.integrity }, 'the metadata');
        assert.notEqual(made.chat_metadata.integrity, source.meta.integrity, 'the slug');

        andBack(t, [chatFile(group, 'Ours twice'), group.groupFile], 'join', group.file, group.file, '-n', 'Ours twice');
        const twice = fs.readFileSync(chatFile(group, 'Ours twice'), 'utf8').split('\n').slice(1);
        const ours = fs.readFileSync(group.file, 'utf8').split('\n').slice(1);
        sameBytes(twice.join('\n'), [...ours, ...ours].join('\n'), 'the group\u2019s messages');
        same((await groupOf(t, group)).chats, [group.chat, 'Ours twice'], 'the group\u2019s chats');
        files.forEach((each, i) => sameBytes(fs.readFileSync(each), i < 3 ? before[i] : before[3], `${each}, which was joined`));

        await goesOn(t, source, 'All of it', 'joined');
        await goesOn(t, group, 'Ours twice', group.members[1]);
        await lists(t, other, { [other.chat]: 6, [`${other.chat}__Elsewhere`]: 3 });
    },
};

export const copying = [copies, joins];
