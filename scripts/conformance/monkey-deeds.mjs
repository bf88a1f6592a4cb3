// What the monkey does: a user's deeds in the page, and the same and more with stchat. Each deed is told where it is done and
// by which dice; it gives what it did, for the report, or null where it can't be done there.

import path from 'node:path';

import { createBranch, createCheckpoint, open, savePage } from './tab.mjs';

/** Few names, so that they are taken again after deletes and renames. */
const names = ['Alpha', 'Beta', 'Γάμμα', 'alpha two', 'Alpha - Branch #1', 'Alpha - Checkpoint #1', 'Beta__x'];

/** The file of an owner's chat. */
export const fileOf = (source, name) => path.join(source.folder, `${name}.jsonl`);

/** A name that no chat has now; a group's chats share their folder with other groups. */
function freeName({ dice, here, source }) {
    const all = names.map((name) => source.id ? `G ${name}` : name);
    const taken = here.map((name) => name.toLowerCase());
    return dice.pick(all.filter((name) => !taken.includes(name.toLowerCase())));
}

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

/** Rules of check in which a deed of the user's may show: links to a message that went, a text that parts from its copy. */
const cut = ['date-order', 'diverged-checkpoint', 'unlisted-branch', 'dangling-main-chat', 'missing-main-chat'];
const orphaned = ['dangling-main-chat', 'dangling-checkpoint', 'dangling-branch', 'unlisted-branch', 'missing-main-chat', 'diverged-checkpoint'];
/** A name is taken again, and what named the chat that had it now means another. */
const taken = ['chat-cycle', 'diverged-checkpoint', 'unlisted-branch', 'missing-main-chat'];

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
    },
    swipe: {
        do: inChat(async ({ t, dice, i, message }) => {
            if (!(message?.swipes?.length > 1) || message.is_system) {
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
            await t.page.evaluate(async (at, text) => {
                const main = await import('/script.js');
                const message = document.querySelector(`#chat .mes[mesid="${at}"]`);
                message.querySelector('.mes_edit').click();
                document.querySelector('#curEditTextarea').value = text;
                message.querySelector('.mes_edit_done').click();
                while (main.chat[at].mes !== text || document.querySelector('#curEditTextarea')) {
                    await new Promise((resolve) => setTimeout(resolve, 20));
                }
            }, i, `Edited in step ${step}.`);
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
        may: taken,
    },
    branch: {
        grows: true,
        do: inChat(async ({ t, i, message }) => message ? `${await createBranch(t, i)} at ${i}` : null),
        may: taken,
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
        may: [...orphaned, ...taken],
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
        may: orphaned,
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
};

/** A deed of stchat's on the chat's file: gives the arguments. */
const call = (args, more) => ({ args, ...more });

/** One of a chat's messages. */
const some = ({ dice, count }) => String(dice.below(count));

const inPlace = (args, may = []) => call((at) => at.count > 2 ? args(at) : null, { may });

/** Deeds of stchat's; each is also taken back and made again. */
export const ours = {
    branch: call((at) => {
        const name = freeName(at);
        return name && at.count ? ['branch', at.file, '--at', some(at), ...at.dice.maybe('-n', name), ...at.dice.maybe('--link'), ...at.dice.maybe('--naming', 'sillytavern'), ...at.dice.maybe('--open')] : null;
    }, { grows: true, may: taken }),
    checkpoint: call((at) => {
        const name = freeName(at);
        return name && at.count ? ['checkpoint', at.file, '--at', some(at), '-n', name, '--naming', 'sillytavern', ...at.dice.maybe('--link')] : null;
    }, { grows: true, may: taken }),
    'message set': inPlace((at) => ['message', 'set', at.file, '-a', some(at), '--set-string', `mes=Set in step ${at.step}.`], cut),
    'message delete': inPlace((at) => ['message', 'delete', at.file, '-a', some(at)], cut),
    'message hide': inPlace((at) => ['message', at.dice.pick(['hide', 'unhide']), at.file, '-a', `${some(at)}..`]),
    'message swipe': inPlace((at) => ['message', 'swipe', at.file, '-a', '-1', '--add', `Swipe of step ${at.step}.`, ...at.dice.maybe('--choose')], cut),
    'message swipe --choose': inPlace((at) => ['message', 'swipe', at.file, '-a', some(at), '--choose', '1'], cut),
    'message add': inPlace((at) => ['message', 'add', at.file, ...at.dice.maybe('--at', some(at)), '--role', at.dice.pick(['user', 'character', 'narrator', 'comment']), '--text', `Added in step ${at.step}.`],
        cut),
    rename: call((at) => {
        const name = freeName(at);
        return name && ['rename', at.file, name, ...at.dice.maybe('--family')];
    }, { may: taken }),
    delete: call((at) => ['delete', at.file, ...at.dice.maybe('--links', 'mend')], { shrinks: true, may: ['unlisted-branch', 'diverged-checkpoint'] }),
    new: call((at) => {
        const name = freeName(at);
        return name && ['new', at.source.groupFile ?? at.source.folder, '-n', name, ...at.dice.maybe('--open'), ...(at.source.id ? [] : at.dice.maybe('--like', at.file))];
    }, { grows: true, may: [...taken, 'header-only', 'group-missing-chat'] }),
    restore: call((at) => {
        const { rev } = at.dice.pick(at.versions.filter((v) => v.file === at.file)) ?? {};
        return rev && ['restore', at.file, '--rev', String(rev), '--in-place'];
    }, { may: [...orphaned, 'date-order', 'integrity-missing', 'header-only', 'chat-cycle'] }), // a group's version may be older than its slug
    'restore what is gone': call((at) => {
        const lost = at.versions.filter((v) => path.dirname(v.file) === at.source.folder && !at.here.includes(path.basename(v.file, '.jsonl')));
        const { file } = at.dice.pick(lost) ?? {};
        return file && ['restore', file];
    }, { grows: true, may: [...orphaned, 'date-order', 'integrity-missing', 'header-only', 'chat-cycle'] }),
    slim: inPlace((at) => ['slim', at.file, '--keep-last', '2'], cut),
    split: call((at) => at.count > 4 ? ['split', at.file, '--last', '3', ...at.dice.maybe('-n', freeName(at) ?? 'Split')] : null, { grows: true, may: taken }),
};
