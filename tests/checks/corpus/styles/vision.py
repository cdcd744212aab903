"""Attention of images: one fused layer, windows, maps of features."""

import torch
from torch import nn
from torch.nn.functional import normalize, scaled_dot_product_attention, softmax

from tests.checks.corpus.ground_truth import BY_MODEL, OTHER, WIDTH, D, H, style, wrong


class Timm(nn.Module):
    def __init__(self, dim, num_heads, qkv_bias=True, qk_norm=False, fused_attn=True):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, dim // num_heads
        self.scale, self.fused_attn = self.head_dim**-0.5, fused_attn
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.q_norm = nn.LayerNorm(self.head_dim) if qk_norm else nn.Identity()
        self.k_norm = nn.LayerNorm(self.head_dim) if qk_norm else nn.Identity()
        self.attn_drop = nn.Dropout(0.1)
        self.proj, self.proj_drop = nn.Linear(dim, dim), nn.Dropout(0.1)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, self.head_dim)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        q, k = self.q_norm(q), self.k_norm(k)
        if self.fused_attn:
            rate = self.attn_drop.p if self.training else 0.0
            x = scaled_dot_product_attention(q, k, v, dropout_p=rate)
        else:
            attn = (q * self.scale @ k.transpose(-2, -1)).softmax(dim=-1)
            x = self.attn_drop(attn) @ v
        return self.proj_drop(self.proj(x.transpose(1, 2).reshape(B, N, C)))


@style()
def timm_fused():
    """In the style of timm's vision transformer: one layer, PyTorch's function."""
    return Timm(WIDTH, H)


@style()
def deit():
    """In the style of DeiT: the same, step by step."""
    return Timm(WIDTH, H, qkv_bias=False, fused_attn=False)


@style()
def timm_normed():
    """In the style of timm with qk_norm: layer norms of queries and keys."""
    return Timm(WIDTH, H, qk_norm=True)


class HeadsFirst(nn.Module):
    """Cut the fused layer by heads first, then by queries, keys and values."""

    def __init__(self, dim, num_heads, scale_by_model=False):
        super().__init__()
        self.num_heads, self.emb_size = num_heads, dim
        self.qkv = nn.Linear(dim, dim * 3)
        self.att_drop = nn.Dropout(0.0)
        self.projection = nn.Linear(dim, dim)
        width = dim if scale_by_model else dim // num_heads
        self.scaling = width**0.5

    def forward(self, x, mask=None):
        texts, T, width = x.shape
        qkv = self.qkv(x).view(texts, T, self.num_heads, -1, 3)
        queries, keys, values = qkv.permute(4, 0, 2, 1, 3).unbind(0)
        energy = torch.einsum("bhqd,bhkd->bhqk", queries, keys)
        if mask is not None:
            energy = energy.masked_fill(~mask, torch.finfo(energy.dtype).min)
        att = self.att_drop(softmax(energy / self.scaling, dim=-1))
        out = torch.einsum("bhal,bhlv->bhav", att, values)
        return self.projection(out.transpose(1, 2).reshape(texts, T, width))


@style()
def fused_by_heads():
    """In the style of a ViT tutorial: (h d qkv) in one layer."""
    return HeadsFirst(WIDTH, H)


@style(defects=(BY_MODEL,))
def fused_by_heads_scaled():
    """In the style of a ViT tutorial: (h d qkv), and the root of the whole width."""
    return HeadsFirst(WIDTH, H, scale_by_model=True)


class AfterSoftmax(HeadsFirst):
    def forward(self, x, mask=None):
        texts, T, width = x.shape
        qkv = self.qkv(x).view(texts, T, self.num_heads, -1, 3)
        queries, keys, values = qkv.permute(4, 0, 2, 1, 3).unbind(0)
        energy = torch.einsum("bhqd,bhkd->bhqk", queries, keys)
        if mask is not None:
            energy = energy.masked_fill(~mask, torch.finfo(energy.dtype).min)
        att = self.att_drop(softmax(energy, dim=-1) / self.scaling)
        out = torch.einsum("bhal,bhlv->bhav", att, values)
        return self.projection(out.transpose(1, 2).reshape(texts, T, width))


@style(
    defects=(
        wrong(
            "Weights are divided by a root after the softmax, not scores before it.",
            r"after the softmax",
            "equation",
            "equal-tokens",
        ),
    )
)
def fused_scaled_late():
    """In the style of a ViT tutorial's first version: the scale after the softmax."""
    return AfterSoftmax(WIDTH, H)


class VitPytorch(nn.Module):
    """Norm inside, to_qkv without biases, to_out with dropout."""

    def __init__(self, dim, heads=8, dim_head=64, dropout=0.0):
        super().__init__()
        inner = dim_head * heads
        self.heads, self.scale = heads, dim_head**-0.5
        self.norm = nn.LayerNorm(dim)
        self.attend, self.dropout = nn.Softmax(dim=-1), nn.Dropout(dropout)
        self.to_qkv = nn.Linear(dim, inner * 3, bias=False)
        self.to_out = nn.Sequential(nn.Linear(inner, dim), nn.Dropout(dropout))

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def between(self, attn):
        return attn

    def forward(self, x):
        q, k, v = map(self.split, self.to_qkv(self.norm(x)).chunk(3, dim=-1))
        attn = self.attend(torch.matmul(q, k.transpose(-1, -2)) * self.scale)
        out = torch.matmul(self.between(self.dropout(attn)), v)
        return self.to_out(out.transpose(1, 2).flatten(2))


@style()
def vit_pytorch():
    """In the style of vit-pytorch: norm inside, and an inner width of its own."""
    return VitPytorch(WIDTH, H, 7, 0.1)


class DeepVit(VitPytorch):
    def __init__(self, dim, heads, dim_head):
        super().__init__(dim, heads, dim_head)
        self.reattn_weights = nn.Parameter(torch.randn(heads, heads))
        self.reattn_norm = nn.LayerNorm(heads)

    def between(self, attn):
        mixed = torch.einsum("bhij,hg->bgij", attn, self.reattn_weights)
        return self.reattn_norm(mixed.movedim(1, -1)).movedim(-1, 1)


@style()
def deepvit():
    """In the style of DeepViT: heads exchange their weights after the softmax."""
    return DeepVit(WIDTH, H, D)


class TalkingHeads(VitPytorch):
    def __init__(self, dim, heads, dim_head):
        super().__init__(dim, heads, dim_head)
        self.mix_heads = nn.Conv2d(heads, heads, 1, bias=False)

    def between(self, attn):
        return self.mix_heads(attn)


@style()
def talking_heads():
    """In the style of CaiT: a further matrix between heads, after the softmax."""
    return TalkingHeads(WIDTH, H, D)


class WindowAttention(nn.Module):
    def __init__(self, dim, window_size, num_heads):
        super().__init__()
        self.dim, self.window_size, self.num_heads = dim, window_size, num_heads
        self.scale = (dim // num_heads) ** -0.5
        high, wide = window_size
        self.relative_position_bias_table = nn.Parameter(
            torch.randn((2 * high - 1) * (2 * wide - 1), num_heads)
        )
        rows, columns = torch.meshgrid(
            torch.arange(high), torch.arange(wide), indexing="ij"
        )
        rows, columns = rows.flatten(), columns.flatten()
        down = rows[:, None] - rows[None] + high - 1
        right = columns[:, None] - columns[None] + wide - 1
        index = down * (2 * wide - 1) + right
        self.register_buffer("relative_position_index", index)
        self.qkv, self.proj = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)
        self.attn_drop, self.proj_drop = nn.Dropout(0.0), nn.Dropout(0.0)
        self.softmax = nn.Softmax(dim=-1)

    def bias(self):
        found = self.relative_position_bias_table[self.relative_position_index]
        return found.permute(2, 0, 1)[None]

    def forward(self, x, mask=None):
        B_, N, C = x.shape
        shape = (B_, N, 3, self.num_heads, C // self.num_heads)
        q, k, v = self.qkv(x).reshape(shape).permute(2, 0, 3, 1, 4)
        attn = (q * self.scale) @ k.transpose(-2, -1) + self.bias()
        if mask is not None:
            windows = mask.shape[0]
            attn = attn.view(-1, windows, self.num_heads, N, N) + mask[:, None][None]
            attn = attn.view(-1, self.num_heads, N, N)
        x = self.attn_drop(self.softmax(attn)) @ v
        return self.proj_drop(self.proj(x.transpose(1, 2).reshape(B_, N, C)))


@style()
def swin_window():
    """In the style of Swin: a window of two by three, a table of relative biases."""
    return WindowAttention(WIDTH, (2, 3), H)


class CosineAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv, self.proj = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)
        self.logit_scale = nn.Parameter(torch.full((num_heads, 1, 1), 10.0).log())

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        attn = normalize(q, dim=-1) @ normalize(k, dim=-1).transpose(-2, -1)
        attn = softmax(attn * self.logit_scale.clamp(max=4.6).exp(), dim=-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


@style(harmless=OTHER)
def swin_cosine():
    """In the style of Swin 2: cosines of queries and keys, and a learned scale."""
    return CosineAttention(WIDTH, H)


class SamAttention(nn.Module):
    def __init__(self, embedding_dim, num_heads, downsample_rate):
        super().__init__()
        self.internal_dim = embedding_dim // downsample_rate
        self.num_heads = num_heads
        self.q_proj = nn.Linear(embedding_dim, self.internal_dim)
        self.k_proj = nn.Linear(embedding_dim, self.internal_dim)
        self.v_proj = nn.Linear(embedding_dim, self.internal_dim)
        self.out_proj = nn.Linear(self.internal_dim, embedding_dim)

    def forward(self, q, k, v):
        def heads(x):
            return x.unflatten(2, (self.num_heads, -1)).transpose(1, 2)

        q, k, v = heads(self.q_proj(q)), heads(self.k_proj(k)), heads(self.v_proj(v))
        attn = torch.softmax(q @ k.permute(0, 1, 3, 2) / q.shape[-1] ** 0.5, dim=-1)
        return self.out_proj((attn @ v).transpose(1, 2).flatten(2))


@style()
def sam():
    """In the style of Segment Anything: an inner width that is half of the outer."""
    return SamAttention(30, 3, 2)


class MapBlock(nn.Module):
    """Attention among the places of a map, with a norm and a residual."""

    def __init__(self, in_channels):
        super().__init__()
        self.norm = nn.GroupNorm(3, in_channels)
        self.q = nn.Conv2d(in_channels, in_channels, 1)
        self.k = nn.Conv2d(in_channels, in_channels, 1)
        self.v = nn.Conv2d(in_channels, in_channels, 1)
        self.proj_out = nn.Conv2d(in_channels, in_channels, 1)

    def forward(self, x):
        texts, c, high, wide = x.shape
        h = self.norm(x)
        q, k, v = (one(h).flatten(2) for one in (self.q, self.k, self.v))
        w = softmax(torch.bmm(q.transpose(1, 2), k) * c**-0.5, dim=2)
        h = torch.bmm(v, w.transpose(1, 2)).view(texts, c, high, wide)
        return x + self.proj_out(h)


def as_map(m, x):
    return m(x.transpose(1, 2)[..., None]).squeeze(-1).transpose(1, 2)


OVER_PLACES = {
    "past": "A norm of groups runs over all places.",
    "equal-tokens": "A norm of groups runs over all places.",
    "order": "A norm of groups runs over all places.",
}


@style(call=as_map, d_in=WIDTH, harmless=OVER_PLACES)
def diffusion_map():
    """In the style of latent diffusion's first stage: convolutions of one place."""
    return MapBlock(WIDTH)


class SelfAttentionGan(nn.Module):
    def __init__(self, in_dim):
        super().__init__()
        self.query_conv = nn.Conv2d(in_dim, 5, 1)
        self.key_conv = nn.Conv2d(in_dim, 5, 1)
        self.value_conv = nn.Conv2d(in_dim, in_dim, 1)
        self.gamma = nn.Parameter(torch.zeros(1))
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        texts, c, high, wide = x.size()
        query = self.query_conv(x).flatten(2).permute(0, 2, 1)
        attention = self.softmax(torch.bmm(query, self.key_conv(x).flatten(2)))
        out = torch.bmm(self.value_conv(x).flatten(2), attention.permute(0, 2, 1))
        return self.gamma * out.view(texts, c, high, wide) + x, attention


def as_map_first(m, x):
    return m(x.transpose(1, 2)[..., None])[0].squeeze(-1).transpose(1, 2)


@style(call=as_map_first, d_in=WIDTH, scale=1.0)
def gan_map():
    """In the style of a self-attention GAN: no scale, and a gate that starts shut."""
    return SelfAttentionGan(WIDTH)


class LegacyHeads(nn.Module):
    """Three in a row for each head, in channels; scaled on both sides."""

    def __init__(self, channels, n_heads, legacy=True):
        super().__init__()
        self.n_heads, self.legacy = n_heads, legacy
        self.norm = nn.GroupNorm(1, channels)
        self.qkv = nn.Conv1d(channels, channels * 3, 1)
        self.proj_out = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        texts, c, T = x.shape
        qkv, ch = self.qkv(self.norm(x)), c // self.n_heads
        if self.legacy:
            q, k, v = qkv.reshape(texts * self.n_heads, ch * 3, T).split(ch, dim=1)
        else:
            cut = qkv.chunk(3, dim=1)
            q, k, v = (one.reshape(texts * self.n_heads, ch, T) for one in cut)
        scale = ch**-0.25
        weight = torch.einsum("bct,bcs->bts", q * scale, k * scale)
        weight = torch.softmax(weight.float(), dim=-1).type(weight.dtype)
        a = torch.einsum("bts,bcs->bct", weight, v).reshape(texts, -1, T)
        return x + self.proj_out(a)


@style(call="m(x.transpose(1, 2)).transpose(1, 2)", d_in=WIDTH, harmless=OVER_PLACES)
def guided_legacy():
    """In the style of guided diffusion: heads first, then queries, keys, values."""
    return LegacyHeads(WIDTH, H)


@style(call="m(x.transpose(1, 2)).transpose(1, 2)", d_in=WIDTH, harmless=OVER_PLACES)
def guided_new():
    """In the style of guided diffusion's new order: three first, then heads."""
    return LegacyHeads(WIDTH, H, legacy=False)
