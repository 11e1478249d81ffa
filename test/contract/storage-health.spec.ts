import { describeContract } from './backends.js';

describeContract('storage health', (opened) => {
  it('is good while the store is open and bad once it is closed', async () => {
    const { health } = opened().stores;
    await expect(health.check()).resolves.toBeUndefined();
    await opened().reopen();
    await expect(health.check()).rejects.toThrow();
    await expect(opened().stores.health.check()).resolves.toBeUndefined();
  });
});
