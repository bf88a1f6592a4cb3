// The table of versions and scenarios, for people and as Markdown.

/**
 * @param {string[]} versions
 * @param {{title: string, results: Map<string, {outcome: string, why?: string}>}[]} rows
 */
export function textTable(versions, rows) {
    const wide = Math.max(...rows.map((r) => r.title.length));
    const out = [`${''.padEnd(wide)}  ${versions.map((v) => v.padEnd(8)).join('')}`.trimEnd()];
    for (const row of rows) {
        out.push(`${row.title.padEnd(wide)}  ${versions.map((v) => row.results.get(v).outcome.padEnd(8)).join('')}`.trimEnd());
    }
    return out.join('\n');
}

/** The same as a Markdown table, with the reasons for what did not run or failed below it. */
export function markdownTable(versions, rows) {
    const out = [
        `| scenario | ${versions.join(' | ')} |`,
        `|---|${versions.map(() => '---').join('|')}|`,
    ];
    for (const row of rows) {
        out.push(`| ${row.title} | ${versions.map((v) => row.results.get(v).outcome).join(' | ')} |`);
    }
    const why = reasons(versions, rows, () => true);
    if (why.length) {
        out.push('', ...why.map((line) => `- ${line}`));
    }
    return out.join('\n');
}

/** One line for each reason: which scenario, in which versions, why. */
export function reasons(versions, rows, wanted) {
    const out = [];
    for (const row of rows) {
        const by = new Map();
        for (const version of versions) {
            const { outcome, why } = row.results.get(version);
            if (why && wanted(outcome)) {
                const key = `${outcome}: ${why}`;
                by.set(key, [...(by.get(key) ?? []), version]);
            }
        }
        for (const [why, where] of by) {
            out.push(`${row.title} (${where.join(', ')}): ${why}`);
        }
    }
    return out;
}
