// The program under test.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { changesBetween, snapshot } from './watch.mjs';

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

/**
 * Runs a program. Words NAME=VALUE in front of its arguments go into its environment, as in a shell.
 * @param {string} program
 * @param {string[]} words
 * @param {object} options of spawnSync
 */
export function runProgram(program, words, options) {
    const first = words.findIndex((word) => !/^[A-Z_]+=/.test(word));
    const set = words.slice(0, first).map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]);
    return spawnSync(program, words.slice(first), { ...options, env: { ...process.env, ...Object.fromEntries(set) } });
}

/** The command of a call, which words NAME=VALUE may stand in front of. */
export const verbOf = (words) => words.find((word) => !/^[A-Z_]+=/.test(word));

/**
 * Makes the way in which scenarios call stchat. A call fails unless it exits as it should, says just what it should on
 * stderr, and changes just the paths it should in the user folders.
 * @param {string} program
 * @param {() => string[]} watched the folders that are watched, now
 */
export function watchedStchat(program, watched) {
    /**
     * Runs stchat, as runProgram does; gives what it wrote to stdout. An object in front of the arguments says what else
     * is expected:
     * code: the exit code (0); says: what each line on stderr matches (none); changes: paths that become different
     * ones (none); prints: whether the path that it prints is one of them; 'last': it prints other lines before that.
     */
    function stchat(...args) {
        const { code = 0, says = [], changes = [], prints = false } = typeof args[0] === 'object' ? args.shift() : {};
        const folders = watched();
        const before = snapshot(folders);
        const done = runProgram(program, args, { encoding: 'utf8', input: '', maxBuffer: 1 << 26, timeout: 300_000 });
        if (done.error) {
            throw done.error;
        }
        const { stdout, stderr } = done;
        const call = `stchat ${verbOf(args)}`;
        const said = stderr.split('\n').filter((line) => line);
        assert.equal(done.status, code, `${call} exits ${done.status}: ${said[0] || stdout.trim().split('\n')[0]}`);
        const wanted = new Set(changes);
        if (prints === 'last') {
            wanted.add(stdout.trim().split('\n').at(-1));
        } else if (prints) {
            assert.match(stdout, /^[^\n]+\n$/, `${call} prints ${JSON.stringify(stdout)}, not one path`);
            wanted.add(stdout.slice(0, -1));
        }
        const found = changesBetween(before, snapshot(folders));
        for (const file of found) {
            assert.ok(wanted.has(file), `${call} changes ${file}`);
        }
        for (const file of wanted) {
            const outside = !folders.some((folder) => file.startsWith(folder + path.sep));
            assert.ok(outside || found.includes(file), `${call} does not change ${file}`);
        }
        for (const line of said) {
            assert.ok(says.some((text) => text.test(line)), `${call} says: ${line}`);
        }
        for (const text of says) {
            assert.ok(said.some((line) => text.test(line)), `${call} does not say ${text}, but: ${said.join(' / ')}`);
        }
        return stdout;
    }

    /** Runs a command that prints one new file's path; gives the path. */
    function pathOf(...args) {
        const want = typeof args[0] === 'object' ? args.shift() : {};
        return stchat({ ...want, prints: true }, ...args).slice(0, -1);
    }
    return { stchat, path: pathOf };
}
