SELECT count(*), count(*) FILTER (is_user), count(*) FILTER (is_system),
       count(*) FILTER (len(swipes) > 1), min(send_date), max(send_date)
FROM read_json('CHAT', format = 'newline_delimited', ignore_errors = true, maximum_object_size = 67108864,
     columns = {is_user: 'BOOLEAN', is_system: 'BOOLEAN', send_date: 'VARCHAR', swipes: 'VARCHAR[]', chat_metadata: 'JSON'})
WHERE chat_metadata IS NULL;
