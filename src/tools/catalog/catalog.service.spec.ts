import { createFile, type ToolContract, writePatch } from '@patchbay/protocol';
import { digestOf } from '../../common/digest.js';
import type { ContractStore } from '../../storage/records/contracts.js';
import type { ClientOffers } from '../custom/client-offers.js';
import { BuiltInTools } from '../built-in-tools.js';
import type { ToolDefinition } from '../tool.js';
import { CatalogService } from './catalog.service.js';

const present: ToolDefinition = { contract: createFile, order: 1 };

/** A catalog of the client tools over stored contracts. */
async function aCatalog(...earlier: ToolContract[]) {
  const stored = new Map(earlier.map((contract) => [digestOf(contract), contract]));
  const reads: string[] = [];
  const contracts: Pick<ContractStore, 'put' | 'byDigest'> = {
    put: (digest, contract) => Promise.resolve(void stored.set(digest, contract)),
    byDigest: (digest) => Promise.resolve((reads.push(digest), stored.get(digest) ?? null)),
  };
  const catalog = new CatalogService(
    new BuiltInTools([present, { contract: writePatch }]),
    contracts as ContractStore,
    {} as ClientOffers,
  );
  await catalog.onModuleInit();
  return { catalog, stored, reads };
}

const USER = 'ada';
const { name } = createFile;
const former: ToolContract = { ...createFile, responseSchema: { type: 'string' } };

describe('the catalog', () => {
  it('stores every contract before its tool can be called', async () => {
    const { stored } = await aCatalog();
    expect([...stored.values()]).toEqual([createFile, writePatch]);
    for (const [digest, contract] of stored) expect(digest).toBe(digestOf(contract));
  });

  describe('finds the tool of a call', () => {
    it('by its accepted contract, without a read for a current one', async () => {
      const { catalog, reads } = await aCatalog();
      const tool = (await catalog.toolset(null)).find(name)!;
      expect(await catalog.toolOf({ contractDigest: tool.digest }, USER)).toBe(tool);
      expect(reads).toEqual([]);
    });

    it('if the contract has changed since, with one read', async () => {
      const { catalog, reads } = await aCatalog(former);
      const contractDigest = digestOf(former);
      const tool = await catalog.toolOf({ contractDigest }, USER);
      expect([tool!.contract, tool!.resultFaults('text'), (await tool!.resultFaults({})).length]).toEqual([
        former,
        [],
        1,
      ]);
      // Other properties of the tool are not part of its contract.
      expect(tool!.definition).toBe(present);
      expect(await catalog.toolOf({ contractDigest }, USER)).toBe(tool);
      expect(reads).toEqual([contractDigest]);
    });

    it('if no tool has its name any more', async () => {
      const removed = { ...former, name: 'workspace_note' };
      const { catalog } = await aCatalog(removed);
      const tool = await catalog.toolOf({ contractDigest: digestOf(removed) }, USER);
      expect([tool!.contract, tool!.resultFaults('text'), tool!.subjectOf({})]).toEqual([removed, [], {}]);
    });

    it('as unknown if it was unknown at acceptance, even if a tool has its name now', async () => {
      const { catalog } = await aCatalog();
      expect(await catalog.toolOf({}, USER)).toBeNull();
    });

    it('never by a guess: a lost contract is an error', async () => {
      const { catalog } = await aCatalog();
      await expect(catalog.toolOf({ contractDigest: digestOf(former) }, USER)).rejects.toThrow('not stored');
    });
  });
});
