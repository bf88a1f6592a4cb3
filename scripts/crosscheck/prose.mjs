// Holds how stchat reads texts (internal/show/prose) against showdown with SillyTavern's options
// (public/scripts/chat-format and messageFormatting in public/script.js of 1.19.0), a style a
// letter:
//
//   node prose.mjs PROSE < texts.jsonl     PROSE is scripts/crosscheck/prose, built
//
// showdown, dompurify and jsdom must be installed beside it or above. What differs by intention
// is left out: code by indent, Markdown within <div>, headings by underlines, and
// styles that overlap, of which a browser ends both where one ends.
import showdown from 'showdown'
import createDOMPurify from 'dompurify'
import { JSDOM } from 'jsdom'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const window = new JSDOM('').window
const purify = createDOMPurify(window)
const underscores = () => [{
	type: 'output',
	regex: /(<code(?:\s+[^>]*)?>[\s\S]*?<\/code>|<style(?:\s+[^>]*)?>[\s\S]*?<\/style>)|\b(?<!_)_(?!_)(.*?)(?<!_)_(?!_)\b/gi,
	replace: (match, code, text) => code ? match : `<em>${text}</em>`,
}]
const converter = new showdown.Converter({
	literalMidWordUnderscores: true, parseImgDimensions: true, tables: true, underline: true, simpleLineBreaks: true,
	strikethrough: true, disableForced4SpacesIndentedSublists: true, extensions: [underscores()],
})
const speech = /<style>[\s\S]*?<\/style>|```[\s\S]*?```|~~~[\s\S]*?~~~|``[\s\S]*?``|`[\s\S]*?`|(".*?")|(\u201C.*?\u201D)|(\u00AB.*?\u00BB)|(\u300C.*?\u300D)|(\u300E.*?\u300F)|(\uFF02.*?\uFF02)/gim

function formatted(text) {
	text = text.replace(/<([^>]+)>/g, (_, inner) => '<' + inner.replace(/"/g, '\ufffe') + '>')
	text = text.replace(speech, (match, ...quotes) => {
		const quote = quotes.slice(0, 6).find(Boolean)
		return quote ? `<q>${quote}</q>` : match
	})
	let html = converter.makeHtml(text.replace(/\ufffe/g, '"')).trim()
	html = html.replace(/<code(.*)>[\s\S]*?<\/code>/g, code => code.replace(/&amp;/g, '&'))
	return purify.sanitize(html, { ADD_TAGS: ['q'] })
}

const styleOf = {
	B: 'b', STRONG: 'b', I: 'i', EM: 'i', U: 'u', S: 's', DEL: 's', STRIKE: 's', Q: 'q', CODE: 'c', PRE: 'c',
	H1: 'h', H2: 'h', H3: 'h', H4: 'h', H5: 'h', H6: 'h',
}

function letters(runs) {
	return runs.flatMap(({ text, styles }) => [...text].filter(c => c.trim()).map(c => c + [...styles].sort().join('')))
}

function walk(node, styles, out) {
	if (node.nodeType === 3) {
		out.push({ text: node.nodeValue, styles })
		return
	}
	const style = styleOf[node.nodeName]
	const inner = style && !styles.includes(style) ? styles + style : styles
	for (const child of node.childNodes) walk(child, inner, out)
}

// overlap reports whether a style begins within another and ends behind it.
function overlap(runs) {
	const open = [] // styles, the innermost last
	for (const { styles } of runs) {
		while (open.length > 0 && !styles.includes(open.at(-1))) open.pop()
		if (open.some(style => !styles.includes(style))) return true
		for (const style of styles) if (!open.includes(style)) open.push(style)
	}
	return false
}

const byIntention = /(^|\n)[ >]*( {4}|\t)|<div|<script|<style|(^|\n)[^\n]+\n[ >]*(-+|=+)[ \t]*(\n|$)|\.\.\./
const lines = readFileSync(0, 'utf8').split('\n').filter(Boolean)
const ours = spawnSync(process.argv[2], { input: lines.join('\n'), maxBuffer: 1 << 30 }).stdout.toString().split('\n')
let compared = 0, different = 0
lines.forEach((line, i) => {
	const text = JSON.parse(line)
	const read = JSON.parse(ours[i])
	if (byIntention.test(text) || overlap(read)) return
	compared++
	const shown = window.document.createElement('div')
	shown.innerHTML = formatted(text)
	const theirs = []
	walk(shown, '', theirs)
	if (letters(theirs).join('\n') === letters(read).join('\n')) return
	different++
	console.log(`differs: ${JSON.stringify(text)}`)
})
console.log(`showdown: ${compared} texts, ${different} read in another way`)
process.exit(different > 0 ? 1 : 0)
