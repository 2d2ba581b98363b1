#include "model/fields.h"
#include "model/value_wire.h"

namespace hearth::model {

FieldEditor::FieldEditor(const Fields& fields) : root_(TakeApart(fields.view())) {}

FieldEditor::Children FieldEditor::TakeApart(MapView map) {
  Children children;
  while (const std::optional<FieldView> field = map.Next()) {
    children.emplace_hint(children.end(), field->name, Node{std::string(field->value.encoded())});
  }
  return children;
}

FieldEditor::Children* FieldEditor::ChildrenOf(Node* node) {
  if (auto* children = std::get_if<std::unique_ptr<Children>>(&node->content)) {
    return children->get();
  }
  const std::string& encoded = std::get<std::string>(node->content);
  if (encoded.empty()) return nullptr;
  const ValueView value(encoded);
  if (value.type() != ValueType::kMap) return nullptr;
  node->content = std::make_unique<Children>(TakeApart(value.map()));
  return std::get<std::unique_ptr<Children>>(node->content).get();
}

std::string FieldEditor::Encode(const Node& node) {
  if (const auto* encoded = std::get_if<std::string>(&node.content)) return *encoded;
  const std::string body =
      EncodeChildren(*std::get<std::unique_ptr<Children>>(node.content), MapView::Tag::kNestedMap);
  std::string encoded;
  AppendBytes(kMapTag, body, &encoded);
  return encoded;
}

std::string FieldEditor::EncodeChildren(const Children& children, MapView::Tag tag) {
  std::string body;
  for (const auto& [name, node] : children) {
    // Nearly all nodes are still encoded and need no copy.
    const auto* encoded = std::get_if<std::string>(&node.content);
    AppendField(tag, name, encoded != nullptr ? *encoded : Encode(node), &body);
  }
  return body;
}

std::optional<std::string> FieldEditor::Get(const FieldPath& path) const {
  const Children* children = &root_;
  for (auto segment = path.segments().begin();;) {
    const auto found = children->find(*segment);
    if (found == children->end()) return std::nullopt;
    if (++segment == path.segments().end()) return Encode(found->second);

    if (const auto* encoded = std::get_if<std::string>(&found->second.content)) {
      ValueView value(*encoded);
      for (; segment != path.segments().end(); ++segment) {
        if (value.type() != ValueType::kMap) return std::nullopt;
        const std::optional<ValueView> inner = value.map().Find(*segment);
        if (!inner) return std::nullopt;
        value = *inner;
      }
      return std::string(value.encoded());
    }
    children = std::get<std::unique_ptr<Children>>(found->second.content).get();
  }
}

void FieldEditor::Set(const FieldPath& path, std::string encoded_value) {
  Children* children = &root_;
  for (size_t i = 0; i + 1 < path.segments().size(); ++i) {
    Node& node = (*children)[path.segments()[i]];
    children = ChildrenOf(&node);
    if (children == nullptr) {
      node.content = std::make_unique<Children>();
      children = std::get<std::unique_ptr<Children>>(node.content).get();
    }
  }
  (*children)[path.segments().back()].content = std::move(encoded_value);
}

FieldEditor::Children* FieldEditor::Containing(const FieldPath& path) {
  Children* children = &root_;
  for (size_t i = 0; children != nullptr && i + 1 < path.segments().size(); ++i) {
    const auto found = children->find(path.segments()[i]);
    children = found == children->end() ? nullptr : ChildrenOf(&found->second);
  }
  return children;
}

std::optional<std::string> FieldEditor::Take(const FieldPath& path) {
  Children* const children = Containing(path);
  if (children == nullptr) return std::nullopt;
  const auto found = children->find(path.segments().back());
  if (found == children->end()) return std::nullopt;
  auto* const encoded = std::get_if<std::string>(&found->second.content);
  std::string value = encoded != nullptr ? std::move(*encoded) : Encode(found->second);
  children->erase(found);
  return value;
}

void FieldEditor::Remove(const FieldPath& path) {
  Children* const children = Containing(path);
  if (children != nullptr) children->erase(path.segments().back());
}

Fields FieldEditor::Finish() const {
  return Fields::FromTrusted(EncodeChildren(root_, MapView::Tag::kDocument));
}

}  // namespace hearth::model
