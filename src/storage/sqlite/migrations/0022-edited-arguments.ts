/**
 * What a person made of the arguments of a call that the server is yet to run lies with its result, before there is one
 * (an empty text), and no longer in the row of the call, which each of its saves writes again.
 */
export const EDITED_ARGUMENTS_SCHEMA = `
INSERT INTO turn_results (id, call_id, result, edited_arguments)
  SELECT c.id, c.call_id, '', json_extract(c.state, '$.approved.editedArguments')
  FROM turns t CROSS JOIN turn_calls c ON c.id >= t.id * 65536 AND c.id < (t.id + 1) * 65536
  WHERE t.status = 'open' AND json_type(c.state, '$.approved.editedArguments') = 'object';
UPDATE turn_calls SET state = json_set(json_remove(state, '$.approved.editedArguments'), '$.approved.editedAt',
    (SELECT accepted_at FROM turns WHERE turns.id = turn_calls.id / 65536))
  WHERE id IN (SELECT id FROM turn_results WHERE result = '');
`;
