// What a call changes: everything in the user folders is looked at before and after it.

import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

/** Where stchat keeps what undo needs. */
const journal = '.stchat';

/**
 * Takes down all that lies in some folders.
 * @param {string[]} folders one that does not exist is empty
 * @returns {Map<string, string>} path -> mode and the content's hash
 */
export function snapshot(folders) {
    const found = new Map();
    const walk = (folder) => {
        for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
            if (entry.name === journal) {
                continue;
            }
            const file = path.join(folder, entry.name);
            const { mode } = fs.lstatSync(file);
            const content = entry.isFile() ? crypto.createHash('sha1').update(fs.readFileSync(file)).digest('hex') : '';
            found.set(file, `${mode} ${content}`);
            if (entry.isDirectory()) {
                walk(file);
            }
        }
    };
    folders.filter((folder) => fs.existsSync(folder)).forEach(walk);
    return found;
}

/** The paths that appeared, changed or vanished between two snapshots. */
export function changesBetween(before, after) {
    return [...new Set([...before.keys(), ...after.keys()])].filter((file) => before.get(file) !== after.get(file));
}
