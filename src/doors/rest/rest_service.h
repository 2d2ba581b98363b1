#pragma once

#include <memory>
#include <string_view>

#include "doors/rest/bindings.h"
#include "doors/rest/rest_call.h"
#include "http/exchange.h"
#include "rpc/methods.h"

namespace hearth::doors::rest {

// google.firestore.v1.Firestore as JSON over HTTP, following its google.api.http annotations. Web
// pages of every origin may use it.
//
// Threads: safe for concurrent use; never blocks a loop. Ownership: borrows the methods, which must
// outlive every call; what `background` uses must outlive the server. Errors: Google's JSON.
class RestService final : public http::Service {
 public:
  RestService(const rpc::Methods& methods, rpc::Background background, RestOptions options = {});

  std::shared_ptr<http::ExchangeHandler> Open(http::Exchange& exchange) override;

 private:
  // The request in `head`, or an error if it cannot be served.
  Result<RestRequest> Read(const http::RequestHead& head) const;
  // The method that answers; Unimplemented if there is none.
  Result<const rpc::SingleRequestMethod*> FindMethod(const Binding& binding) const;

  const rpc::Methods& methods_;
  const rpc::Background background_;
  const RestOptions options_;
  const std::shared_ptr<const Bindings> bindings_;  // Shared with calls that outlive this.
};

}  // namespace hearth::doors::rest
