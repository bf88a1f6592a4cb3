// SillyTavern's page as a user has it open: its own functions, called in its own page.

import fs from 'node:fs';
import path from 'node:path';

import { until } from './waits.mjs';

export const needsPage = (t) => t.browser ? null : 'no Chromium';

/** Waits until the page has loaded everything it needs before chats can be opened. */
export async function ready(opened) {
    await until('the page is ready', () => opened.evaluate(() => {
        const loader = document.querySelector('#loader, #load-spinner');
        return typeof globalThis.SillyTavern?.getContext === 'function' && !loader
            && document.querySelectorAll('#rm_print_characters_block .character_select').length > 0;
    }), { pause: 200 });
    return opened;
}

/** Copies a source (and its group file) into a user folder of stchat's own. */
export function replicate(t, source) {
    const there = (file) => path.join(t.replica, path.relative(t.data.root, file));
    for (const file of [source.file, source.groupFile].filter(Boolean)) {
        fs.mkdirSync(path.dirname(there(file)), { recursive: true });
        fs.copyFileSync(file, there(file));
    }
    return { file: there(source.file), groupFile: source.groupFile && there(source.groupFile), old: source.old };
}

/** Opens a chat of a character or group in the page; gives what the page then has in memory. */
export async function open(t, source, name) {
    await t.page.evaluate(async (avatar, group, name) => {
        const main = await import('/script.js');
        const groups = await import('/scripts/group-chats.js');
        await main.getCharacters();
        if (group) {
            await groups.openGroupById(group);
            await groups.openGroupChat(group, name);
        } else {
            await main.selectCharacterById(String(main.characters.findIndex((c) => c.avatar === avatar)));
            await main.openCharacterChat(name);
        }
    }, source.avatar, source.id, name);
    return state(t);
}

/** The page's chat: its name, messages, metadata, and the texts of popups that are open. */
export function state(t) {
    return t.page.evaluate(async () => {
        const main = await import('/script.js');
        return {
            name: main.getCurrentChatId(),
            messages: main.chat,
            meta: main.chat_metadata,
            popups: [...document.querySelectorAll('dialog[open]')].map((d) => d.innerText.trim().slice(0, 80)),
        };
    });
}

export function createBranch(t, at, options) {
    return t.page.evaluate(async (at, options) => {
        const bookmarks = await import('/scripts/bookmarks.js');
        return bookmarks.createBranch(at, options);
    }, at, options);
}

export function createCheckpoint(t, at, name) {
    return t.page.evaluate(async (at, name) => {
        const bookmarks = await import('/scripts/bookmarks.js');
        return bookmarks.createNewBookmark(at, { forceName: name });
    }, at, name);
}

/** Saves the open chat in the page. */
export function savePage(t) {
    return t.page.evaluate(async () => {
        const main = await import('/script.js');
        await main.saveChatConditional();
    });
}

/** Edits a message by the page's own buttons. */
export async function editMessage(t, at, text) {
    await t.page.evaluate((at, text) => {
        const message = document.querySelector(`#chat .mes[mesid="${at}"]`);
        message.querySelector('.mes_edit').click();
        document.querySelector('#curEditTextarea').value = text;
        message.querySelector('.mes_edit_done').click();
    }, at, text);
    await until(`message ${at} is edited`, () => t.page.evaluate(async (at, text) => {
        const main = await import('/script.js');
        return main.chat[at].mes === text && !document.querySelector('#curEditTextarea');
    }, at, text), { pause: 20 });
}

/** Waits for a popup of the page; gives its text. */
export const popup = (t) => until('a popup of the page', async () => (await state(t)).popups.join(' '));

/** Does something that loads the page anew, and waits until it has. */
async function anew(t, deed) {
    await t.page.evaluate((deed) => {
        globalThis.old = true;
        setTimeout(deed === 'reload' ? () => location.reload() : () => document.querySelector(deed).click());
    }, deed);
    await until('the page loads anew', () => t.page.evaluate(() => !globalThis.old));
    await ready(t.page);
}

/** Loads the page anew, whatever it shows. */
export const reload = (t) => anew(t, 'reload');

/** Does something while the page is closed, and opens it again: an open page saves its settings when it likes. */
export async function whileClosed(t, deed) {
    const go = async (url) => {
        await t.page.evaluate((url) => {
            setTimeout(() => location.assign(url));
        }, url);
        await until(`the browser shows ${url}`, () => t.page.evaluate((url) => location.href === url, url));
    };
    const url = await t.page.evaluate(() => location.href);
    await go('about:blank');
    await deed();
    await go(url);
    await ready(t.page);
}

/**
 * Leaves the popup in which the page says that it may not save, as a user does who wants to lose nothing: since 1.13 its
 * OK loads the page anew; before, OK overwrites the file, and the other button leaves the page as it is.
 */
export async function reloadByPopup(t) {
    const overwrites = await t.page.evaluate(() => {
        const cancel = document.querySelector('dialog[open] .popup-button-cancel');
        const asks = cancel && getComputedStyle(cancel).display !== 'none';
        if (asks) {
            cancel.click();
        }
        return Boolean(asks);
    });
    await (overwrites ? reload(t) : anew(t, 'dialog[open] .popup-button-ok'));
}

/** Waits until the page, which saves some things later, has left a file alone for two seconds. */
export const quiet = (file) => until(`${path.basename(file)} is left alone`, () => Date.now() - fs.statSync(file).mtimeMs >= 2000, { pause: 200 });
