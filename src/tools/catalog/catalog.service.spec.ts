import { createFile, type ToolContract, writePatch } from '@patchbay/protocol';
import { digestOf } from '../../common/digest.js';
import type { ContractStore } from '../../storage/records/contracts.js';
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
  );
  await catalog.onModuleInit();
  return { catalog, stored, reads };
}

const { name } = createFile;
const former: ToolContract = { ...createFile, responseSchema: { type: 'string' } };

describe('the catalog', () => {
  it('stores every contract before its tool can be called', async () => {
    const { stored } = await aCatalog();
    expect([...stored.values()]).toEqual([createFile, writePatch]);
    for (const [digest, contract] of stored) expect(digest).toBe(digestOf(contract));
  });

  describe('knows the tool of a call', () => {
    it('by the contract that it was accepted under, without asking the store for one of its own', async () => {
      const { catalog, reads } = await aCatalog();
      const tool = (await catalog.toolset(null)).find(name)!;
      expect(await catalog.toolOf({ contractDigest: tool.digest })).toBe(tool);
      expect(reads).toEqual([]);
    });

    it('though it is another now, and asks the store for that once', async () => {
      const { catalog, reads } = await aCatalog(former);
      const contractDigest = digestOf(former);
      const tool = await catalog.toolOf({ contractDigest });
      expect([tool!.contract, tool!.resultFaults('text'), tool!.resultFaults({}).length]).toEqual([
        former,
        [],
        1,
      ]);
      // Other properties of the tool are not part of its contract.
      expect(tool!.definition).toBe(present);
      expect(await catalog.toolOf({ contractDigest })).toBe(tool);
      expect(reads).toEqual([contractDigest]);
    });

    it('though there is none of its name any more', async () => {
      const removed = { ...former, name: 'workspace_note' };
      const { catalog } = await aCatalog(removed);
      const tool = await catalog.toolOf({ contractDigest: digestOf(removed) });
      expect([tool!.contract, tool!.resultFaults('text'), tool!.subjectOf({})]).toEqual([removed, [], {}]);
    });

    it('that was unknown then is none, though there is one of its name now', async () => {
      const { catalog } = await aCatalog();
      expect(await catalog.toolOf({})).toBeNull();
    });

    it('never by a guess: a contract that is lost is an error', async () => {
      const { catalog } = await aCatalog();
      await expect(catalog.toolOf({ contractDigest: digestOf(former) })).rejects.toThrow('not stored');
    });
  });
});
