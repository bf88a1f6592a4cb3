// What the scenarios play with: characters, chats, groups and lorebooks, written the way each version of SillyTavern
// writes them. All text is made up here.

import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';

const words = ('amber basin candle drift ember fjord garnet harbour inlet jasmine kettle lantern meadow nettle orchard '
    + 'pebble quarry ribbon saddle thicket umber valley willow yarrow').split(' ');

/** Eight words or so; the same for the same number. */
function sentence(seed) {
    const out = [];
    for (let i = 0; i < 8; i++) {
        out.push(words[(seed * 7 + i * 5 + ((seed * i) % 11)) % words.length]);
    }
    return `${out.join(' ')} \u2014 \u201c${out[0]}\u201d\n*${out[1]}* caf\u00e9 \u{1F600}`;
}

/** The send_date of message i, as the version writes it. */
function date(i, legacy) {
    return legacy
        ? `January 2, 2026 3:${String(i).padStart(2, '0')}am`
        : `2026-01-02T03:${String(i).padStart(2, '0')}:06.000Z`;
}

/**
 * Messages as SillyTavern keeps them: user and character in turn, message 3 hidden, character messages with three swipes
 * (the page itself gives swipes to a character's message that has none).
 * @param {number} count
 * @param {{character: string, legacy?: boolean}} of
 * @returns {object[]}
 */
export function story(count, { character, legacy = false }) {
    const messages = [];
    for (let i = 0; i < count; i++) {
        const user = i % 2 === 1;
        const message = {
            name: user ? 'User' : character,
            is_user: user,
            is_system: i === 3,
            send_date: date(i, legacy),
            mes: sentence(i),
            extra: user ? { isSmallSys: false } : { api: 'manual', model: 'none', token_count: 20 + i },
        };
        if (user) {
            message.force_avatar = 'User Avatars/user-default.png';
        } else {
            message.swipe_id = 0;
            message.swipes = [message.mes, sentence(100 + i), sentence(200 + i)];
            message.swipe_info = message.swipes.map((_, k) => ({
                send_date: k === 0 ? message.send_date : date(30 + k, legacy),
                gen_started: `2026-01-02T04:0${k}:00.000Z`,
                gen_finished: `2026-01-02T04:0${k}:09.000Z`,
                extra: k === 0 ? { ...message.extra } : { api: 'manual', model: 'none', token_count: 100 * k + i },
            }));
        }
        messages.push(message);
    }
    return messages;
}

/** Metadata with what SillyTavern itself would add on loading, so that a load and a save change nothing. */
export function metadata(seed) {
    return {
        integrity: `${String(seed).padStart(8, '0')}-2222-4333-8444-555555555555`,
        note_prompt: '',
        note_interval: 1,
        note_position: 1,
        note_depth: 4,
        note_role: 0,
        tainted: true,
        chat_id_hash: 7231709471000000 + seed,
        'dotted.key': { a: 1, 'b|c': [1, 2.5, -0.001, 1e21] },
        variables: { hp: '12', 'quote"d': 'x' },
    };
}

/** The header line's object around some metadata. */
export function header(meta, { character, legacy = false }) {
    return legacy
        ? { user_name: 'User', character_name: character, create_date: '2026-01-02@03h04m05s', chat_metadata: meta }
        : { chat_metadata: meta, user_name: 'unused', character_name: 'unused' };
}

/** A chat file's bytes: compact JSON lines, no newline at the end, as SillyTavern joins them. */
export function lines(...objects) {
    return objects.map((o) => JSON.stringify(o)).join('\n');
}

/** A value as no JSON.stringify writes it: spaces, escapes, whole numbers with a fraction, keys the other way round. */
function loosely(value) {
    if (Array.isArray(value)) {
        return `[ ${value.map(loosely).join(' , ')} ]`;
    }
    if (typeof value === 'object' && value !== null) {
        return `{ ${Object.entries(value).reverse().map(([key, v]) => `${loosely(key)} : ${loosely(v)}`).join(', ')}}`;
    }
    if (Number.isInteger(value) && Math.abs(value) < 1e15) {
        return `${value}.0`;
    }
    return JSON.stringify(value).replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).replaceAll('/', '\\/');
}

/** A chat file with such lines. */
export const looseLines = (...objects) => objects.map(loosely).join('\n');

function crc32(bytes) {
    let crc = ~0;
    for (const byte of bytes) {
        crc ^= byte;
        for (let bit = 0; bit < 8; bit++) {
            crc = (crc >>> 1) ^ (crc & 1 ? 0xEDB88320 : 0);
        }
    }
    return ~crc >>> 0;
}

/** A chunk of a PNG. */
export function pngChunk(type, data) {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE(crc32(body), body.length + 4);
    return out;
}

/** How a PNG begins. */
export const signature = Buffer.from([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]);

/**
 * A character card: a PNG of one pixel whose tEXt chunk "chara" holds the card in base64. v3: a chunk "ccv3" holds it too,
 * as SillyTavern has written it since 1.12; it is the one that SillyTavern reads.
 */
function card(name, chat, v3) {
    const body = {
        name, description: '', personality: '', scenario: '', mes_example: '',
        first_mes: `A greeting of ${name}.`, chat, create_date: '2026-01-02@03h04m05s',
    };
    const v2 = {
        ...body,
        spec: 'chara_card_v2', spec_version: '2.0',
        data: {
            name, description: '', personality: '', scenario: '', first_mes: body.first_mes, mes_example: '',
            creator_notes: '', system_prompt: '', post_history_instructions: '', alternate_greetings: [], tags: [],
            creator: '', character_version: '', extensions: {},
        },
    };
    const size = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]);
    const text = (kind, value) => pngChunk('tEXt', Buffer.from(`${kind}\0${Buffer.from(JSON.stringify(value)).toString('base64')}`, 'latin1'));
    return Buffer.concat([
        signature,
        pngChunk('IHDR', size),
        text('chara', v2),
        ...(v3 ? [text('ccv3', { ...v2, spec: 'chara_card_v3', spec_version: '3.0' })] : []),
        pngChunk('IDAT', zlib.deflateSync(Buffer.from([0, 90, 120, 150]))),
        pngChunk('IEND', Buffer.alloc(0)),
    ]);
}

/** The cards in a PNG: pairs of a chunk's keyword and what it holds. */
export function cards(file) {
    const bytes = fs.readFileSync(file);
    const found = [];
    for (let at = signature.length; at < bytes.length;) {
        const length = bytes.readUInt32BE(at);
        const data = bytes.subarray(at + 8, at + 8 + length);
        if (bytes.toString('latin1', at + 4, at + 8) === 'tEXt') {
            const [kind, text] = data.toString('latin1').split('\0');
            found.push([kind, JSON.parse(Buffer.from(text, 'base64').toString('utf8'))]);
        }
        at += length + 12;
    }
    return found;
}

/** The entries of the lorebook that the isolation scenarios clone: three of the user's, two of an extension. */
function bookEntries() {
    const plain = (uid, comment, content, more) => ({
        uid, key: [comment.toLowerCase()], keysecondary: [], comment, content, constant: false, vectorized: false,
        selective: true, selectiveLogic: 0, addMemo: true, order: 100, position: 0, disable: false,
        excludeRecursion: false, preventRecursion: false, delayUntilRecursion: false, probability: 100,
        useProbability: true, depth: 4, group: '', scanDepth: null, caseSensitive: null, role: 0,
        sticky: null, cooldown: null, delay: null, displayIndex: uid, ...more,
    });
    return {
        1: plain(1, 'Harbour', 'The harbour is made of amber.'),
        3: plain(3, 'Quarry', 'Pebbles \u201cspeak\u201d there.', { sticky: 5 }),
        4: plain(4, '_registry_place', '[Registry: place]\n- UID=1 | name: Harbour | aliases: \u2014 | synopsis: \u2014',
            { key: [], disable: true }),
        7: plain(7, 'Valley', 'Willow and yarrow.'),
        1767322000000: plain(1767322000000, '__operation_queue', JSON.stringify({
            queue: [], current_operation_id: null, paused: false, version: 1, queueVersion: 0,
        }, null, 2), { key: [], disable: true }),
    };
}

/** A SillyTavern user folder (default-user) being filled. */
export class UserFolder {
    constructor(root) {
        this.root = root;
        this.seed = 0;
        for (const name of ['chats', 'characters', 'groups', 'group chats', 'worlds']) {
            fs.mkdirSync(path.join(root, name), { recursive: true });
        }
    }

    /**
     * A character with one chat, which its card names as the current one. v3: the card is in two chunks; loose: the chat's
     * lines are not as JSON.stringify writes them.
     * @returns {{character, avatar, chat, folder, file, meta, header, messages}} header and messages as objects
     */
    solo(character, { legacy = false, count = 12, meta = {}, messages, chat, v3 = false, loose = false } = {}) {
        chat ??= `${character} - 2026-01-02@03h04m05s${legacy ? '' : '006ms'}`;
        const full = { ...metadata(++this.seed), ...meta };
        const source = {
            character, chat, avatar: `${character}.png`, legacy,
            folder: path.join(this.root, 'chats', character),
            meta: full,
            header: header(full, { character, legacy }),
            messages: messages ?? story(count, { character, legacy }),
        };
        source.file = path.join(source.folder, `${chat}.jsonl`);
        fs.mkdirSync(source.folder, { recursive: true });
        fs.writeFileSync(path.join(this.root, 'characters', source.avatar), card(character, chat, v3));
        fs.writeFileSync(source.file, (loose ? looseLines : lines)(source.header, ...source.messages));
        return source;
    }

    /**
     * A group of two characters with one chat. With old: as SillyTavern up to 1.14 keeps it, the metadata in the group
     * file and no header in the chat.
     */
    group(name, { old = false, count = 10 } = {}) {
        const id = String(1767322000000 + (++this.seed));
        const chat = `2026-01-02@03h04m${String(this.seed).padStart(2, '0')}s${old ? '' : '006ms'}`;
        const members = ['Left', 'Right'].map((side) => `${name} ${side}`);
        for (const member of members) {
            fs.mkdirSync(path.join(this.root, 'chats', member), { recursive: true });
            fs.writeFileSync(path.join(this.root, 'characters', `${member}.png`), card(member, `${member} - none`));
        }
        const messages = story(count, { character: members[0], legacy: old });
        messages.forEach((message, i) => {
            if (!message.is_user) {
                message.name = members[(i / 2) % 2];
                message.original_avatar = `${message.name}.png`;
            }
        });
        if (old) {
            messages[0].is_group = true;
        }
        const meta = metadata(this.seed);
        const file = {
            id, name, members: members.map((m) => `${m}.png`), avatar_url: '', allow_self_responses: false,
            activation_strategy: 0, generation_mode: 0, disabled_members: [], fav: false,
            chat_id: chat, chats: [chat], auto_mode_delay: 5,
            generation_mode_join_prefix: '', generation_mode_join_suffix: '',
            ...(old ? { chat_metadata: meta, past_metadata: {} } : {}),
        };
        const source = {
            id, chat, meta, messages, old, group: file, members,
            header: header(meta, { character: members[0] }),
            folder: path.join(this.root, 'group chats'),
            groupFile: path.join(this.root, 'groups', `${id}.json`),
        };
        source.file = path.join(source.folder, `${chat}.jsonl`);
        fs.writeFileSync(source.groupFile, JSON.stringify(file, null, 4));
        fs.writeFileSync(source.file, old ? lines(...messages) : lines(source.header, ...messages));
        return source;
    }

    /**
     * A lorebook with entries of the user's and, unless it is plain, of an extension; more: what the user's have besides,
     * by uid.
     */
    lorebook(name, { plain = false, more = {} } = {}) {
        const entries = Object.fromEntries(Object.entries(bookEntries()).filter(([, e]) => !plain || !e.comment.startsWith('_')));
        Object.entries(more).forEach(([uid, keys]) => Object.assign(entries[uid], keys));
        const book = { name, entries, extensions: { note: 'kept' } };
        const file = path.join(this.root, 'worlds', `${name}.json`);
        fs.writeFileSync(file, JSON.stringify(book, null, 4));
        return { name, file, book };
    }
}
