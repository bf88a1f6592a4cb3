// Waiting that ends: for what happens in the page or on disk, and for the server's answers.

import { setTimeout as sleep } from 'node:timers/promises';

/** How long anything may take on a machine that is busy with other things, in seconds. */
const patience = 300;

/**
 * Waits until a condition holds; one that throws does not hold yet.
 * @param {string} what for the error
 * @param {() => any} condition
 * @param {{seconds?: number, pause?: number}} options pause in milliseconds
 */
export async function until(what, condition, { seconds = patience, pause = 100 } = {}) {
    const end = Date.now() + seconds * 1000;
    for (;;) {
        let wrong;
        const held = await Promise.resolve().then(condition).catch((error) => {
            wrong = error;
        });
        if (held) {
            return held;
        }
        if (Date.now() > end) {
            throw new Error(`${what}: not in ${seconds} s${wrong ? `: ${wrong.message}` : ''}`);
        }
        await sleep(pause);
    }
}

const tries = 5;

/** Nobody listened, so nothing was done. */
const refused = ['ECONNREFUSED'];
/** The connection broke before there was an answer: what was asked for may have been done, or not. */
const broken = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

/**
 * Sends a request on a connection of its own: one that is kept may be closed by the server just as it is used again.
 * @param {string} url
 * @param {RequestInit} init
 * @param {boolean} repeatable sending it twice does no more than sending it once
 */
export async function ask(url, init = {}, repeatable = false) {
    const again = repeatable ? [...refused, ...broken] : refused;
    for (let n = 1; ; n++) {
        try {
            return await fetch(url, { ...init, headers: { ...init.headers, connection: 'close' }, signal: AbortSignal.timeout(patience * 1000) });
        } catch (error) {
            const code = error.cause?.code;
            if (n === tries || !again.includes(code)) {
                throw new Error(`${new URL(url).pathname}: ${code ?? error.message}${n > 1 ? `, ${n} times` : ''}`);
            }
            await sleep(n * 200);
        }
    }
}
