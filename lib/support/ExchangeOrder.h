// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order the processes that train a model together exchange its tensors.
#ifndef ACCC_SUPPORT_EXCHANGEORDER_H
#define ACCC_SUPPORT_EXCHANGEORDER_H

namespace accc {

/// An integer of a collective: its place among those of the entry point, as the model and its
/// training step say, whatever the sizes. Processes whose batches have other sizes run other
/// kernels, which compute in another order what is exchanged. CombineCollectivesPass takes it away.
inline constexpr const char kExchangeAttr[] = "accc.exchange";

} // namespace accc

#endif // ACCC_SUPPORT_EXCHANGEORDER_H
