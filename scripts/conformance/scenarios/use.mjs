// What a user does in the page, and stchat before, between and after it.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { isNamed, reload, written } from '../checks.mjs';
import { same, sameBytes } from '../expect.mjs';
import { createBranch, createCheckpoint, editMessage, needsPage, open, popup, quiet, reloadByPopup, savePage, state } from '../tab.mjs';

/** Edits a message in the page, and saves. */
async function edit(t, at, text) {
    await editMessage(t, at, text);
    await savePage(t);
}

const longest = 244;

const names = {
    id: 'use-names',
    title: 'page: saves a name of 244 bytes, not of 245',
    skip: needsPage,
    prepare(t) {
        const source = t.data.solo('long names', { legacy: t.legacy });
        const name = '\u00e9'.repeat((longest - '.jsonl'.length) / 2);
        const file = t.path('checkpoint', source.file, '--at', '4', '-n', name, '--naming', 'sillytavern');
        const tooLong = path.join(source.folder, `${'z'.repeat(longest + 1 - '.jsonl'.length)}.jsonl`);
        fs.copyFileSync(source.file, tooLong);
        return { source, file, tooLong };
    },
    async run(t, { source, file, tooLong }) {
        const name = path.basename(file, '.jsonl');
        assert.equal(Buffer.byteLength(`${name}.jsonl`), longest, 'the longest name');
        written(file, { header: source.header, messages: source.messages.slice(0, 5), mainChat: source.chat });
        await open(t, source, name);
        await edit(t, 1, 'edited');
        assert.equal(JSON.parse(fs.readFileSync(file, 'utf8').split('\n')[2]).mes, 'edited', 'the message in the file');

        // The server writes a temporary file whose name is longer by a dot and up to ten digits: the more there are, the
        // sooner a save is lost.
        const seen = await open(t, source, path.basename(tooLong, '.jsonl'));
        assert.equal(seen.messages.length, source.messages.length, 'the page opens the longer name');
        let lost = 0;
        for (let i = 0; i < 10 && !lost; i++) {
            await edit(t, 1, `edited ${i}`);
            lost += !fs.readFileSync(tooLong, 'utf8').includes(`"edited ${i}"`);
        }
        assert.ok(lost, 'the page saves a name of 245 bytes, ten times');
    },
};

const stopped = {
    id: 'use-bump',
    title: 'page: STCHAT_NEW_SLUG=1 stops an open tab',
    skip: needsPage,
    prepare(t) {
        return { source: t.data.solo('open tab', { legacy: t.legacy }) };
    },
    async run(t, { source }) {
        await open(t, source, source.chat);
        const file = t.path({ changes: [source.file], says: [reload] }, 'STCHAT_NEW_SLUG=1', 'checkpoint', source.file,
            '--at', '4', '-n', 'Meanwhile', '--naming', 'sillytavern', '--link');
        const linked = fs.readFileSync(source.file);
        // Done with the editor the page saves, and waits for an answer to its popup.
        await editMessage(t, 2, 'from a tab that does not know');
        assert.match(await popup(t), /integrity/i, 'the page says that it may not save');
        sameBytes(fs.readFileSync(source.file), linked, 'the source after the open tab\u2019s save');
        await reloadByPopup(t);

        const seen = await open(t, source, source.chat);
        assert.notEqual(seen.meta.integrity, source.meta.integrity, 'the slug');
        assert.equal(seen.messages[4].extra.bookmark_link, 'Meanwhile', 'the link in the page');
        await edit(t, 2, 'from a tab that was reloaded');
        same((await state(t)).popups, [], 'popups after saving');
        assert.match(fs.readFileSync(source.file, 'utf8'), /from a tab that was reloaded/);
        isNamed(file, 'Meanwhile');
    },
};

/** What the page itself writes is nothing to complain of. */
const used = {
    id: 'use-check',
    title: 'page: check finds nothing after real use',
    skip: needsPage,
    prepare(t) {
        return { source: t.data.solo('used', { legacy: t.legacy }), group: t.data.group('Used group', { old: t.legacy }) };
    },
    async run(t, { source, group }) {
        for (const [of, tag] of [[source, ''], [group, ' of a group']]) {
            await t.page.evaluate(async () => (await import('/scripts/group-chats.js')).resetSelectedGroup());
            await open(t, of, of.chat);
            await edit(t, 1, 'said otherwise');
            const branch = await createBranch(t, 6);
            const point = await createCheckpoint(t, 4, `Kept${tag}`);
            await t.page.evaluate(async () => {
                const context = SillyTavern.getContext();
                await context.executeSlashCommandsWithOptions('/send said in the page | /hide 2 | /cut 8');
                await context.saveChat();
            });
            const { messages } = await state(t);
            assert.equal(messages.length, of.messages.length, 'a message more, and one cut');
            assert.ok(messages[2].is_system, 'message 2 is hidden');
            await open(t, of, branch);
            await edit(t, 2, 'another course');
            await open(t, of, point);
            await t.page.evaluate(() => SillyTavern.getContext().executeSlashCommandsWithOptions('/send gone on with'));
            await savePage(t);
            await open(t, of, of.chat);
        }
        await quiet(group.groupFile);
        // Before 1.19 the page gives a copy the slug of its source, and before 1.15 a group's chats have no header.
        const shared = t.atLeast('1.19.0') ? [] : ['integrity-shared', 'integrity-shared'];
        const old = t.legacy ? ['group-old-layout'] : [];
        // Then its chats share one object of metadata as well: a chat is saved as its own parent, or not, as the saves fall.
        const mayBe = t.legacy ? ['chat-cycle'] : [];
        for (const [file, want] of [[source.folder, shared], [group.file, old]]) {
            const found = t.stchat({ code: want.length ? 1 : 0 }, 'check', '--format', 'json', '--severity', 'info', file);
            const rules = found.trim().split('\n').map((line) => JSON.parse(line).rule).filter(Boolean);
            same(rules.filter((rule) => !mayBe.includes(rule)), want, 'what check finds');
        }
    },
};

export const use = [names, stopped, used];
