import type { Json } from '@patchbay/protocol';
import { valueOf } from '../../src/common/json-text.js';
import { aCall, aTurn, completed } from '../../src/turns/state/turn.sample.js';
import { describeContract } from './backends.js';
import { givenWorkspace, insertTurn } from './records.js';

const LARGE: Json = {
  text: `${'😀"\u0000ä'.repeat(40_000)}\ud800`,
  list: Array.from({ length: 5_000 }, (_, n) => n),
};

describeContract('large arguments and results of turns', (opened) => {
  it('come back equal, beside small ones, also after a restart', async () => {
    const { stores } = opened();
    const turn = aTurn(await givenWorkspace(stores), {
      calls: [aCall(), aCall({ toolCallId: 'call_2' }), aCall({ toolCallId: 'call_3' })],
    });
    const given = [{ a: 1 }, LARGE, [LARGE, 'x'.repeat(300_000)]] as Json[];
    await insertTurn(stores, turn, { arguments: given });
    const { callId } = turn.calls[0]!;
    const result = { callId, result: LARGE, details: [LARGE], editedArguments: { b: LARGE } };
    expect(await stores.turns.save(turn, completed(turn), [result], [])).toBe(true);
    for (const restart of [false, true]) {
      if (restart) await opened().reopen();
      const { turns } = opened().stores;
      expect(await Promise.all((await turns.argumentsOf(turn)).map(valueOf))).toEqual(given);
      expect(await turns.argumentsOfCall(turn, 0)).toEqual(given[0]);
      expect(await turns.argumentsOfCall(turn, 2)).toEqual(given[2]);
      expect(await turns.resultOf(turn, callId)).toEqual({ result: LARGE, details: [LARGE] });
      expect(await turns.editedArgumentsOf(turn, callId)).toEqual({ b: LARGE });
      const passed = (await turns.resultsOf(turn)).get(callId)!;
      expect(await valueOf(passed.result)).toEqual(LARGE);
    }
  });

  it('are stored for the one turn that stands under a name', async () => {
    const { stores } = opened();
    const turn = aTurn(await givenWorkspace(stores));
    await insertTurn(stores, turn, { arguments: [LARGE] });
    const other = { ...turn, calls: [aCall()] };
    expect(await insertTurn(stores, other, { arguments: [['y'.repeat(300_000)]] })).toEqual(turn);
    expect(await stores.turns.argumentsOfCall(turn, 0)).toEqual(LARGE);
    const { callId } = turn.calls[0]!;
    await stores.turns.save(turn, completed(turn), [{ callId, result: LARGE }], []);
    expect(await stores.turns.save(turn, completed(turn), [{ callId, result: [LARGE] }], [])).toBe(true);
    expect((await stores.turns.resultOf(turn, callId))!.result).toEqual(LARGE);
  });
});
