// What the monkey does in SillyTavern's page. Each deed is told where it is done and by which dice; it gives what it did, for
// the report, or null where it can't be done there.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { sameBytes, status } from './expect.mjs';
import { copied, freeName, orphaned, parted, sidecars, taken } from './monkey-names.mjs';
import { createBranch, createCheckpoint, editMessage, open, savePage, state } from './tab.mjs';

const slash = (t, text) => t.page.evaluate((text) => SillyTavern.getContext().executeSlashCommandsWithOptions(text), text);

const inScript = (t, name, ...args) => t.page.evaluate(async (name, args) => {
    await (await import('/script.js'))[name](...args);
}, name, args);

/** Opens the chat, does something in it with one of its messages, and saves. */
const inChat = (deed) => async (at) => {
    const { t, source, name, dice } = at;
    const { messages } = await open(t, source, name);
    const i = dice.below(messages.length);
    const did = await deed({ ...at, messages, i, message: messages[i] });
    if (did) {
        await savePage(t);
    }
    return did;
};

const speaker = (source) => source.character ?? source.members[0];

/** What a deed of the user's on messages may lead to. */
const cut = [...parted, 'dangling-main-chat', 'luker-floor'];

/** Compares the server's export of a chat as text with stchat's. */
async function exportText({ t, source, name, file }) {
    const answer = await t.server.post('/api/chats/export', {
        is_group: Boolean(source.id), avatar_url: source.avatar, file: `${name}.jsonl`, exportfilename: `${name}.txt`, format: 'txt',
    });
    status(answer, 200, 'the export');
    const { code, out, err } = t.run('export', file, '--format', 'txt');
    assert.equal(code, answer.body.result ? 0 : 1, `export --format txt exits ${code}: ${err}`);
    sameBytes(out, answer.body.result, 'the text of stchat, which is not the server\u2019s');
    return `of ${answer.body.result.length} characters`;
}

/** Deeds in the page. */
export const theirs = {
    send: {
        do: inChat(async ({ t, source, step }) => {
            await slash(t, `/send Asked in step ${step}. | /sendas name="${speaker(source)}" Answered in step ${step}, "so" — é.`);
            return 'a question and an answer';
        }),
    },
    addswipe: {
        do: inChat(async ({ t, messages, step }) => {
            const last = messages.at(-1);
            if (!last || last.is_user || last.is_system || last.extra?.type) {
                return null;
            }
            await slash(t, `/addswipe ${step % 2 ? 'switch=true ' : ''}Another of step ${step}.`);
            return 'at the end';
        }),
        may: cut, // links go with the swipe that they were made in
    },
    swipe: {
        do: inChat(async ({ t, dice, messages }) => {
            const [i, message] = dice.pick([...messages.entries()].filter(([, m]) => m.swipes?.length > 1 && !m.is_system)) ?? [];
            if (!message) {
                return null;
            }
            const k = dice.below(message.swipes.length);
            await inScript(t, 'swipe', null, 'right', { source: 'swipe_picker', forceMesId: i, forceSwipeId: k });
            return `of message ${i} to ${k}`;
        }),
        may: cut,
    },
    edit: {
        do: inChat(async ({ t, step, i, message }) => {
            if (!message) {
                return null;
            }
            await editMessage(t, i, `Edited in step ${step}.`);
            return `message ${i}`;
        }),
        may: cut,
    },
    deleteMessage: {
        do: inChat(async ({ t, messages, i }) => {
            if (messages.length < 3) {
                return null;
            }
            await inScript(t, 'deleteMessage', i);
            return `message ${i}`;
        }),
        may: cut,
    },
    hide: {
        do: inChat(async ({ t, i, message }) => {
            if (!message) {
                return null;
            }
            const command = message.is_system ? 'unhide' : 'hide';
            await slash(t, `/${command} ${i}`);
            return `${command} message ${i}`;
        }),
    },
    checkpoint: {
        grows: true,
        do: inChat(async (at) => {
            const name = freeName(at);
            if (!at.message || !name) {
                return null;
            }
            await createCheckpoint(at.t, at.i, name);
            return `${name} at ${at.i}`;
        }),
        may: [...copied, ...sidecars],
    },
    branch: {
        grows: true,
        do: inChat(async ({ t, i, message }) => message ? `${await createBranch(t, i)} at ${i}` : null),
        may: [...copied, ...sidecars],
    },
    rename: {
        async do(at) {
            const { t, source, name } = at;
            const to = freeName(at);
            if (!to) {
                return null;
            }
            await open(t, source, name);
            await t.page.evaluate(async (avatar, groupId, oldFileName, newFileName) => {
                const main = await import('/script.js');
                const characterId = groupId ? undefined : String(main.characters.findIndex((c) => c.avatar === avatar));
                await main.renameGroupOrCharacterChat({ characterId, groupId, oldFileName, newFileName, loader: false });
            }, source.avatar, source.id, name, to);
            return `to ${to}`;
        },
        may: [...orphaned, ...taken, ...sidecars],
    },
    delete: {
        shrinks: true,
        async do({ t, source, name }) {
            await t.page.evaluate(async (avatar, group, name) => {
                const main = await import('/script.js');
                await main.getCharacters();
                if (group) {
                    await (await import('/scripts/group-chats.js')).deleteGroupChatByName(group, name);
                } else {
                    await main.deleteCharacterChatByName(String(main.characters.findIndex((c) => c.avatar === avatar)), name);
                }
            }, source.avatar, source.id, name);
            return 'it';
        },
        may: [...orphaned, ...sidecars],
    },
    new: {
        grows: true,
        async do({ t, source, name }) {
            await open(t, source, name);
            await inScript(t, 'doNewChat');
            return 'beside it';
        },
        may: ['integrity-missing'], // a group's gets its slug when it is next opened
    },
    exportText: {
        do: async (at) => fs.existsSync(at.file) ? exportText(at) : null,
    },
    importChat: {
        grows: true,
        async do({ t, source, sources, dice, chats }) {
            const from = dice.pick(sources.filter((s) => Boolean(s.id) === Boolean(source.id)));
            const name = dice.pick(chats(from));
            const file = path.join(from.folder, `${name}.jsonl`);
            if (!fs.existsSync(file)) {
                return null;
            }
            await open(t, source, dice.pick(chats(source)));
            const made = await t.page.evaluate(async (group, avatar, character, text) => {
                const form = new FormData();
                form.append('avatar', new File([text], 'chat.jsonl'));
                form.append('file_type', 'jsonl');
                form.append('avatar_url', avatar ?? '');
                form.append('character_name', character ?? '');
                form.append('user_name', 'User');
                return group
                    ? (await import('/scripts/group-chats.js')).importGroupChat(form, { refresh: false })
                    : (await import('/script.js')).importCharacterChat(form, { refresh: false });
            }, source.id, source.avatar, source.character, fs.readFileSync(file, 'utf8'));
            assert.equal(made.length, 1, 'the chats that the page imports');
            return `${name} of ${from.character ?? 'the group'} as ${made[0]}`;
        },
        may: [...orphaned, ...copied, 'integrity-shared'], // the copy keeps the slug
    },
    duplicateCard: {
        async do({ t, source, dice }) {
            if (source.id) {
                return null;
            }
            const avatar = await t.page.evaluate(async (avatar) => {
                const main = await import('/script.js');
                await main.getCharacters();
                return main.duplicateCharacter({ avatar, silent: true });
            }, source.avatar);
            const character = path.basename(avatar, '.png');
            const card = path.join(t.data.root, 'characters', avatar);
            const { code, out, err } = t.run('new', card, '--open', '--json', ...dice.maybe('-n', 'Alpha'));
            assert.equal(code, 0, `new ${avatar} exits ${code}: ${err}`);
            const { path: made } = JSON.parse(String(out).split('\n')[0]);
            await t.page.evaluate(async (avatar) => {
                const main = await import('/script.js');
                await main.getCharacters();
                await main.selectCharacterById(String(main.characters.findIndex((c) => c.avatar === avatar)));
            }, avatar);
            const shown = await state(t);
            assert.equal(shown.name, path.basename(made, '.jsonl'), `the chat that ${avatar} opens with`);
            assert.equal(shown.messages.length, 1, 'the greeting that the page adds');
            await savePage(t);
            const told = t.run('show', made, '--json');
            await t.page.evaluate(async (avatar) => (await import('/script.js')).deleteCharacter(avatar), avatar);
            const left = [card, path.join(t.data.root, 'chats', character)].filter((file) => fs.existsSync(file));
            assert.equal(left.join(' / '), '', `what is left of ${avatar}`);
            assert.equal(JSON.parse(told.out).text, shown.messages[0].mes, 'the greeting that stchat reads');
            return `as ${avatar}, with a chat by stchat, and delete it`;
        },
    },
};
