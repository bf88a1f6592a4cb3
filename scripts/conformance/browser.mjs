// A headless Chromium, spoken to in the DevTools protocol over a pipe (no port, no WebSocket, no dependency).

import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

/**
 * Finds a Chromium: the given path, else $CHROMIUM, else the usual names on PATH.
 * @param {string} wanted "auto", "never" or a path
 * @returns {string|null}
 */
export function findBrowser(wanted) {
    if (wanted === 'never') {
        return null;
    }
    if (wanted !== 'auto') {
        return wanted;
    }
    if (process.env.CHROMIUM) {
        return process.env.CHROMIUM;
    }
    for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
        for (const name of names) {
            const file = path.join(folder, name);
            if (folder && fs.existsSync(file)) {
                return file;
            }
        }
    }
    return null;
}

/** What the browser says it is, for the table's caption. */
export function browserVersion(file) {
    const said = spawnSync(file, ['--version'], { encoding: 'utf8' });
    return /[\w ]+? [\d.]+/.exec(said.stdout ?? '')?.[0].trim() ?? file;
}

/**
 * Starts the browser and opens one page.
 * @param {string} file the browser's program
 * @param {string} profile an empty folder for its profile
 * @param {string} url the page; every other host is made unreachable
 * @returns evaluate and close; send sends a command of the protocol to the page; events is what the browser has told
 */
export async function openPage(file, profile, url) {
    const child = spawn(file, [
        '--headless', '--disable-gpu', '--disable-quic', '--no-first-run', '--no-default-browser-check',
        '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-extensions',
        '--disable-dev-shm-usage', '--mute-audio',
        // Chromium's sandbox does not run as root, which is how containers run.
        ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
        '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
        `--user-data-dir=${profile}`,
        '--remote-debugging-pipe',
        'about:blank',
    ], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    const kill = () => child.kill('SIGKILL');
    // Before the scratch folder goes.
    process.prependOnceListener('exit', kill);

    const waiting = new Map();
    const events = [];
    let last = 0;
    let rest = '';
    let gone = new Error('the browser ended');
    let over = false;
    const end = () => {
        over = true;
        for (const { reject } of waiting.values()) {
            reject(gone);
        }
    };
    child.once('exit', end);
    child.once('error', (error) => {
        gone = new Error(`the browser does not start: ${error.message}`);
        end();
    });
    child.stdio[3].on('error', () => {});
    child.stdio[4].setEncoding('utf8');
    child.stdio[4].on('data', (chunk) => {
        const parts = (rest + chunk).split('\0');
        rest = parts.pop();
        for (const part of parts) {
            const message = JSON.parse(part);
            if (message.method) {
                events.push(message);
            }
            const call = waiting.get(message.id);
            if (call) {
                waiting.delete(message.id);
                message.error ? call.reject(new Error(message.error.message)) : call.resolve(message.result);
            }
        }
    });

    function send(method, params, sessionId, timeout = 300_000) {
        if (over) {
            return Promise.reject(gone);
        }
        const id = ++last;
        return new Promise((resolve, reject) => {
            const timer = setTimeout(() => {
                waiting.delete(id);
                reject(new Error(`${method}: no answer in ${timeout / 1000} s`));
            }, timeout);
            waiting.set(id, {
                resolve: (value) => (clearTimeout(timer), resolve(value)),
                reject: (error) => (clearTimeout(timer), reject(error)),
            });
            child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
        });
    }

    async function close() {
        if (!over) {
            const ended = new Promise((resolve) => child.once('exit', resolve));
            await send('Browser.close', {}, undefined, 5000).catch(() => {});
            const late = setTimeout(kill, 5000);
            await ended;
            clearTimeout(late);
        }
        process.removeListener('exit', kill);
    }

    try {
        const { targetId } = await send('Target.createTarget', { url });
        const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });

        /**
         * Runs an async function in the page and gives back its value (which must survive JSON).
         * @param {(...args: any[]) => any} work must not refer to anything outside itself
         */
        async function evaluate(work, ...args) {
            const answer = await send('Runtime.evaluate', {
                expression: `(${work})(${args.map((a) => JSON.stringify(a) ?? 'undefined').join(',')})`,
                awaitPromise: true,
                returnByValue: true,
            }, sessionId);
            if (answer.exceptionDetails) {
                const { exception, text } = answer.exceptionDetails;
                throw new Error(`in the page: ${(exception?.description ?? text).split('\n')[0]}`);
            }
            return answer.result.value;
        }
        return { evaluate, close, events, send: (method, params) => send(method, params, sessionId) };
    } catch (error) {
        await close();
        throw error;
    }
}
