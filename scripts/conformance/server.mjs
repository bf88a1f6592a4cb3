// One running SillyTavern server on loopback, over a scratch data folder.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

import { ask } from './waits.mjs';

const startTimeout = 600_000; // a busy machine takes minutes to compile the libraries

/** Endpoints that only read. */
const reads = /\/(?:all|chats|export|get|list|recent|search)$/;

/** A TCP port of 127.0.0.1 that was free a moment ago. */
function freePort() {
    return new Promise((resolve, reject) => {
        const probe = net.createServer();
        probe.once('error', reject);
        probe.listen(0, '127.0.0.1', () => {
            const { port } = probe.address();
            probe.close(() => resolve(port));
        });
    });
}

/**
 * Starts server.js of an installed version and waits until it answers.
 * Settings are given by environment, which every version from 1.12.14 on reads: no thumbnails and no extension
 * updates, so that nothing is fetched from anywhere; and a backup at each save.
 * @param {string} app folder of server.js
 * @param {string} dataRoot absolute path; user data lie in <dataRoot>/default-user
 * @param {string} logFile where the server's own output goes
 * @param {string|null} compiled where the compiled browser libraries are kept for the next time
 */
export async function startServer(app, dataRoot, logFile, compiled) {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;

    // The compiled browser libraries take ten seconds and more to make; they do not depend on the data.
    const compiledHere = path.join(dataRoot, '_webpack');
    if (compiled && fs.existsSync(compiled)) {
        fs.cpSync(compiled, compiledHere, { recursive: true });
    }

    const log = fs.openSync(logFile, 'w');
    const child = spawn(process.execPath, [
        'server.js',
        '--port', String(port),
        '--listen', 'false',
        '--disableCsrf', 'true',
        '--whitelist', 'true',
        // Versions up to 1.12 call it autorun, later ones browserLaunchEnabled; each ignores the other.
        '--autorun', 'false',
        '--browserLaunchEnabled', 'false',
        '--dataRoot', dataRoot,
    ], {
        cwd: app,
        stdio: ['ignore', log, log],
        env: {
            ...process.env,
            NODE_ENV: 'production',
            SILLYTAVERN_THUMBNAILS_ENABLED: 'false',
            SILLYTAVERN_EXTENSIONS_AUTOUPDATE: 'false',
            SILLYTAVERN_BACKUPS_CHAT_THROTTLEINTERVAL: '1', // each save makes a backup
        },
    });
    fs.closeSync(log);

    let over = false;
    const ended = new Promise((resolve) => child.once('exit', () => {
        over = true;
        resolve();
    }));
    const kill = () => child.kill('SIGKILL');
    // Before the scratch folder goes.
    process.prependOnceListener('exit', kill);

    const server = {
        url,
        /**
         * POSTs a JSON body, as SillyTavern's page does.
         * @returns {Promise<{status: number, body: any}>} body is JSON where it parses, else text
         */
        async post(endpoint, body) {
            const response = await ask(url + endpoint, {
                method: 'POST',
                headers: { 'Content-Type': 'application/json' },
                body: JSON.stringify(body ?? {}),
            }, reads.test(endpoint));
            const text = await response.text();
            try {
                return { status: response.status, body: JSON.parse(text) };
            } catch {
                return { status: response.status, body: text };
            }
        },
        async stop() {
            if (!over) {
                child.kill('SIGTERM');
                const late = setTimeout(kill, 5000);
                await ended;
                clearTimeout(late);
            }
            process.removeListener('exit', kill);
        },
    };

    const until = Date.now() + startTimeout;
    while (Date.now() < until && !over) {
        try {
            const response = await fetch(`${url}/version`, { signal: AbortSignal.timeout(10_000) });
            if (response.ok) {
                server.version = (await response.json()).pkgVersion;
                if (compiled && fs.existsSync(compiledHere) && !fs.existsSync(compiled)) {
                    fs.cpSync(compiledHere, compiled, { recursive: true });
                }
                return server;
            }
        } catch {
            // not listening yet
        }
        await new Promise((resolve) => setTimeout(resolve, 200));
    }
    await server.stop();
    const tail = fs.readFileSync(logFile, 'utf8').trim().split('\n').slice(-15).join('\n');
    throw new Error(`the server did not start; the end of its log:\n${tail}`);
}
