// Package sendate reads the dates of messages: send_date, gen_started, gen_finished,
// create_date. SillyTavern has written them in many shapes over the years and reads
// them all (public/scripts/utils.js, parseTimestamp):
//
//	2026-01-02T03:04:05.000Z      ISO 8601, since 1.16 and in imported chats
//	June 19, 2023 2:20pm          the client's, up to 1.15
//	2023-5-12 @21h 32m 29s 224ms  the server's, in headers and imported chats
//	2024-1-5@3h04m05s             humanizedDateTime, and padded since 1.12.6
//	2024-01-05@03h04m05s006ms     humanizedDateTime since 1.16
//	1687184400000                 milliseconds since 1970, of the first versions
//
// What is no such date, or a day or an hour that does not exist, is not ok: the caller
// shows such a text as it stands. No date is ever guessed or rolled over to the next
// month.
//
// # Time zones
//
// Most shapes name no zone. As SillyTavern reads them, those with @ are in UTC and
// the others in the zone of the machine, time.Local.
package sendate
