// Group chats: with a header (1.16 and later), and in the layout before that, where the group file has the metadata.

import assert from 'node:assert/strict';
import fs from 'node:fs';

import { copyOfGroup, groupLives, groupOf, groupOpensAs, isNamed, written } from '../checks.mjs';
import { literally, same, sameBytes, status, time } from '../expect.mjs';
import { header, lines } from '../fixtures.mjs';

const modern = (t) => t.legacy ? 'group chats have no header before 1.16' : null;

/** In each naming style: the name of a copy at message 5 that is given a name, and of one that is not. */
const styles = {
    checkpoint: {
        suffix: [(s) => `${s.chat}__Point`, (s) => `${s.chat}__Checkpoint #1`],
        sillytavern: [() => 'Group point', (s) => `${s.chat} - Checkpoint #1`],
        // The number counts the group's chats: the source and the one made just before.
        classic: [() => new RegExp(`^Old point - ${time}$`), () => new RegExp(`^Checkpoint #2 - ${time}$`)],
        version: [() => 'Group version', (s) => `${s.chat}-v2`],
    },
    branch: {
        suffix: [(s) => `${s.chat}__Point`, (s) => new RegExp(`^${literally(s.chat)}__Branch #5 - ${time}$`)],
        sillytavern: [() => 'Group branch', (s) => `${s.chat} - Branch #1`],
        classic: [() => new RegExp(`^Old branch - ${time}$`), () => new RegExp(`^Branch #5 - ${time}$`)],
        version: [() => 'Group branch version', (s) => `${s.chat}-v2`],
    },
};

/** The name to give for a style, so that what comes out is as above and no two groups share a file. */
const given = {
    checkpoint: { suffix: 'Point', sillytavern: 'Group point', classic: 'Old point', version: 'Group version' },
    branch: { suffix: 'Point', sillytavern: 'Group branch', classic: 'Old branch', version: 'Group branch version' },
};

/** Copies in every naming style, two of each, of one group's chat. */
function copies(kind) {
    return {
        id: `group-${kind}`,
        title: `group ${kind}, each naming style`,
        skip: modern,
        prepare(t) {
            return Object.entries(styles[kind]).map(([style, want]) => {
                const source = t.data.group(`Group ${kind} ${style}`);
                const flags = ['--at', '5', '--naming', style];
                const files = [['-n', given[kind][style]], []].map((name) =>
                    copyOfGroup(t, kind, source, ...flags, ...name)());
                return { source, files, want };
            });
        },
        async run(t, made) {
            for (const { source, files, want } of made) {
                const chats = files.map((file, i) => {
                    isNamed(file, want[i](source));
                    return written(file, {
                        header: source.header, messages: source.messages.slice(0, 6), mainChat: source.chat,
                    });
                });
                sameBytes(fs.readFileSync(source.groupFile),
                    JSON.stringify({ ...source.group, chats: [source.chat, ...chats.map((c) => c.name)] }, null, 4),
                    'the group file');
                for (const chat of chats) {
                    await groupLives(t, source, chat);
                }
            }
        },
    };
}

/**
 * A group in the layout of 1.14 and before: no header in the chat, metadata in the group file. Before 1.16 a header
 * shows as a message (1.12), and a chat without metadata in the group file counts as fresh and is overwritten with
 * greetings (1.13, getGroupChat in public/scripts/group-chats.js). 1.16 and later migrate such chats as they start, which
 * happens here between stchat's writing and the server's reading.
 */
const old = {
    id: 'group-old-layout',
    title: 'group in the layout before 1.16',
    prepare(t) {
        const source = t.data.group('Old group', { old: true });
        const copy = copyOfGroup(t, 'checkpoint', source, '--at', '5', '-n', 'Old point', '--naming', 'classic');
        return { source, copy, groupFile: JSON.parse(fs.readFileSync(source.groupFile, 'utf8')) };
    },
    async run(t, { source, copy, groupFile }) {
        const file = copy();
        const name = file.split(/[\\/]/).at(-1).replace(/\.jsonl$/, '');
        const messages = source.messages.slice(0, 6);
        const group = await groupOf(t, source);
        same(group.chats, [source.chat, name], 'the group\u2019s chats');

        if (t.legacy) {
            await groupOpensAs(t, name, messages);
            sameBytes(fs.readFileSync(file), lines(...messages), 'the new file');
            const meta = group.past_metadata?.[name];
            assert.ok(meta, 'past_metadata does not have the new chat');
            same(meta, { ...source.meta, main_chat: source.chat, integrity: meta.integrity }, 'past_metadata');
            assert.notEqual(meta.integrity, source.meta.integrity, 'integrity is the source\u2019s');
            same(group.chat_metadata, source.meta, 'the source\u2019s metadata');
            status(await t.server.post('/api/chats/group/save', { id: name, chat: messages }), 200, 'saving it again');
            return;
        }
        assert.ok(!('past_metadata' in group), 'the server did not migrate the group');
        const got = await t.server.post('/api/chats/group/get', { id: name });
        const slug = got.body[0].chat_metadata?.integrity;
        await groupOpensAs(t, name, [
            header({ ...source.meta, main_chat: source.chat, integrity: slug }, {}), ...messages,
        ]);
        assert.ok(slug && slug !== source.meta.integrity, 'integrity is the source\u2019s');
        assert.equal(groupFile.chat_id, source.chat, 'the group\u2019s current chat moved');
        status(await t.server.post('/api/chats/group/save', { id: name, chat: got.body }), 200, 'saving it again');
    },
};

export const group = [copies('checkpoint'), copies('branch'), old];
