// What a file written by stchat must be, worked out here from the fixtures and FORMATS, without asking stchat.

import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';

export const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** SillyTavern's humanizedDateTime, from 1.16 on. */
export const time = String.raw`\d{4}-\d\d-\d\d@\d\dh\d\dm\d\ds\d{3}ms`;

/** Thrown by a scenario that finds out while it runs that it does not apply. */
export class NotHere extends Error {}

/** Quotes a text for use in a regular expression. */
export function literally(text) {
    return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function show(value) {
    const text = JSON.stringify(value) ?? 'nothing';
    return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** Where two JSON values part, or null. */
function difference(got, want, at = '') {
    if (isDeepStrictEqual(got, want)) {
        return null;
    }
    const plain = (v) => typeof v === 'object' && v !== null;
    if (plain(got) && plain(want) && Array.isArray(got) === Array.isArray(want)) {
        for (const key of new Set([...Object.keys(want), ...Object.keys(got)])) {
            const found = difference(got[key], want[key], `${at}/${key}`);
            if (found) {
                return found;
            }
        }
    }
    return `${at || '/'} is ${show(got)}, not ${show(want)}`;
}

/** Fails naming the first place where two JSON values differ. */
export function same(got, want, what) {
    const found = difference(got, want);
    if (found) {
        assert.fail(`${what}: ${found}`);
    }
}

/** Fails naming the first byte where two files differ. Takes strings or Buffers. */
export function sameBytes(got, want, what) {
    const a = Buffer.from(got);
    const b = Buffer.from(want);
    if (a.equals(b)) {
        return;
    }
    let i = 0;
    while (i < a.length && i < b.length && a[i] === b[i]) {
        i++;
    }
    const around = (bytes) => JSON.stringify(bytes.subarray(Math.max(0, i - 12), i + 24).toString('utf8'));
    assert.fail(`${what}: byte ${i} of ${a.length} and ${b.length}: ${around(a)}, not ${around(b)}`);
}

/** Fails unless the value is as the text, or matches the regular expression. */
export function named(got, want, what) {
    const holds = want instanceof RegExp ? want.test(got) : got === want;
    assert.ok(holds, `${what} is ${show(got)}, not ${want instanceof RegExp ? want : show(want)}`);
}

/** Fails unless the server's answer has this status. */
export function status(answer, want, what) {
    assert.equal(answer.status, want, `${what}: status ${answer.status}, not ${want}: ${show(answer.body)}`);
}

/** A message with swipe k chosen: SillyTavern's syncSwipeToMes (1.17 and later). */
export function swiped(message, k) {
    const out = structuredClone(message);
    out.swipe_id = k;
    out.mes = out.swipes[k];
    const info = out.swipe_info[k];
    out.send_date = info.send_date;
    out.gen_started = info.gen_started;
    out.gen_finished = info.gen_finished;
    out.extra = structuredClone(info.extra ?? {});
    return out;
}

/** SillyTavern's getStringHash (public/scripts/utils.js): cyrb53 with seed 0 over UTF-16 units. */
export function stringHash(text) {
    let h1 = 0xdeadbeef;
    let h2 = 0x41c6ce57;
    for (let i = 0; i < text.length; i++) {
        const unit = text.charCodeAt(i);
        h1 = Math.imul(h1 ^ unit, 2654435761);
        h2 = Math.imul(h2 ^ unit, 1597334677);
    }
    h1 = Math.imul(h1 ^ (h1 >>> 16), 2246822507) ^ Math.imul(h2 ^ (h2 >>> 13), 3266489909);
    h2 = Math.imul(h2 ^ (h2 >>> 16), 2246822507) ^ Math.imul(h1 ^ (h1 >>> 13), 3266489909);
    return 4294967296 * (2097151 & h2) + (h1 >>> 0);
}

/** The hash by which core finds an entry of a timed effect: over the entry and the name of its book. */
export function entryHash(entry, world) {
    const { uid, ...rest } = entry;
    return stringHash(JSON.stringify({ uid, world, ...rest, decorators: [] }));
}
