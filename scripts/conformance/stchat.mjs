// The program under test.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

/**
 * Gives the stchat to test: the given one, else $STCHAT, else this tree's, built with go.
 * @param {string|undefined} given
 * @param {string} folder where a built one goes
 */
export function findStchat(given, folder) {
    const wanted = given ?? process.env.STCHAT;
    if (wanted) {
        return path.resolve(wanted);
    }
    const program = path.join(folder, process.platform === 'win32' ? 'stchat.exe' : 'stchat');
    const built = spawnSync('go', ['build', '-o', program, './cmd/stchat'], { cwd: root, encoding: 'utf8' });
    if (built.error) {
        throw new Error('there is no go to build stchat with; give --stchat PATH or set STCHAT');
    }
    if (built.status !== 0) {
        throw new Error(`stchat does not build:\n${built.stderr}`);
    }
    return program;
}

/** Runs stchat; gives its exit code and what it said. */
export function runStchat(program, args) {
    const done = spawnSync(program, args, { encoding: 'utf8', input: '', maxBuffer: 1 << 26 });
    if (done.error) {
        throw done.error;
    }
    return { code: done.status, stdout: done.stdout, stderr: done.stderr };
}

/** Runs stchat and fails unless it exits 0. */
export function mustStchat(program, args) {
    const done = runStchat(program, args);
    const said = done.stderr.trim().split('\n')[0] || done.stdout.trim().split('\n')[0];
    assert.equal(done.code, 0, `stchat ${args[0]} exits ${done.code}: ${said}`);
    return done;
}

/** Runs a command that prints one new file's path; gives the path. */
export function pathOfStchat(program, args) {
    const { stdout } = mustStchat(program, args);
    assert.match(stdout, /^[^\n]+\n$/, `stchat ${args[0]} prints ${JSON.stringify(stdout)}, not one path`);
    return stdout.slice(0, -1);
}
