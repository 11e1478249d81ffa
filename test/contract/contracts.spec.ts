import type { ToolContract } from '@patchbay/protocol';
import { createHash, randomUUID } from 'node:crypto';
import { describeContract } from './backends.js';

const aDigest = (): string => createHash('sha256').update(randomUUID()).digest('hex');

function aContract(changes: Partial<ToolContract> = {}): ToolContract {
  return {
    ...{ name: 'note', description: 'Note.\u0000\ud800', category: 'notes', executionLocation: 'client' },
    requestSchema: { type: 'object', properties: { $where: { type: 'string' }, 'a.b': { enum: [null] } } },
    ...{ responseSchema: {}, guidance: '# note' },
    ...changes,
  };
}

describeContract('contracts', (opened) => {
  it('are found by their digest as they were stored, also after a restart', async () => {
    const digest = aDigest();
    await opened().stores.contracts.put(digest, aContract());
    expect(await opened().stores.contracts.byDigest(digest)).toEqual(aContract());
    expect(await opened().stores.contracts.byDigest(aDigest())).toBeNull();
    await opened().reopen();
    expect(await opened().stores.contracts.byDigest(digest)).toEqual(aContract());
  });

  it('stay as they were first stored', async () => {
    const { contracts } = opened().stores;
    const digest = aDigest();
    await Promise.all([contracts.put(digest, aContract()), contracts.put(digest, aContract())]);
    await contracts.put(digest, aContract({ name: 'other' }));
    expect(await contracts.byDigest(digest)).toEqual(aContract());
  });
});
