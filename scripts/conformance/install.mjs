// Puts one version of SillyTavern into the cache, once.
//
// The npm package is a whole program: server.js, its browser half in public/, defaults in default/. npm hoists its
// dependencies beside it, but SillyTavern up to 1.13 refuses to read a wasm file outside its own folder, so the
// dependencies are moved into the package after the installation: <cache>/<version>/app/{server.js,node_modules,…}.
// Install scripts of the dependencies stay off; the package's own post-install (config.yaml, public/ defaults, wasm
// files) is run by hand, since it expects to stand in that very layout.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Where installed versions are kept: $STCHAT_CONFORMANCE_CACHE, else the user's cache folder. */
export function cacheFolder() {
    const own = process.env.STCHAT_CONFORMANCE_CACHE;
    if (own) {
        return path.resolve(own);
    }
    return path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'stchat-conformance');
}

function must(command, args, cwd) {
    // npm is a shell script on Windows.
    const done = spawnSync(command, args, { cwd, encoding: 'utf8', shell: process.platform === 'win32', timeout: 1_800_000 });
    if (done.error || done.status !== 0) {
        const said = `${done.stdout ?? ''}${done.stderr ?? ''}`.trim().split('\n').slice(-8).join('\n');
        throw new Error(`${command} ${args.join(' ')} in ${cwd}: ${done.error?.message ?? `exit ${done.status}`}\n${said}`);
    }
}

/**
 * Gives the folder with server.js of the given version, installed first where it is not there yet.
 * @param {string} version an exact version on npm
 * @param {(text: string) => void} note told what takes time
 * @returns {string} absolute path
 */
export function install(version, note) {
    const home = path.join(cacheFolder(), version);
    const app = path.join(home, 'app');
    const ready = path.join(home, 'ready');
    if (fs.existsSync(ready)) {
        return app;
    }
    note(`installing sillytavern@${version} into ${home}`);
    // Without the mark at its end an earlier installation broke off: begin again.
    fs.rmSync(home, { recursive: true, force: true });
    fs.mkdirSync(home, { recursive: true });
    fs.writeFileSync(path.join(home, 'package.json'), '{"private":true}\n');
    must('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--omit=dev', `sillytavern@${version}`], home);
    fs.renameSync(path.join(home, 'node_modules', 'sillytavern'), app);
    fs.renameSync(path.join(home, 'node_modules'), path.join(app, 'node_modules'));
    if (fs.existsSync(path.join(app, 'post-install.js'))) {
        must(process.execPath, ['post-install.js'], app);
    }
    fs.writeFileSync(ready, `${new Date().toISOString()}\n`);
    return app;
}
