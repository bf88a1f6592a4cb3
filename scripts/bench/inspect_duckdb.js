// Counts messages by role, swipes and dates with DuckDB: node inspect_duckdb.js CHAT
// Needs the npm package @duckdb/node-api, found through NODE_PATH.
const { readFileSync } = require('fs');
const { DuckDBInstance } = require('@duckdb/node-api');

(async () => {
	const query = readFileSync(`${__dirname}/inspect.sql`, 'utf8').replace('CHAT', process.argv[2]);
	const connection = await (await DuckDBInstance.create(':memory:')).connect();
	const reader = await connection.runAndReadAll(query);
	console.log(reader.getRows().map((row) => row.map(String)));
})();
